// What an expression may be in the analysis of writes.mjs.
import { EVENT, PRIMITIVE, VIEW, union } from "./writes_heap.mjs";
import { GLOBALS, PRIMITIVE_GLOBALS, PURE_FUNCTIONS, builtinValue, pureValue } from "./writes_library.mjs";
import { NOT_ITS_OWN, Values } from "./writes_values.mjs";

export class Expressions extends Values {
  value(node) {
    const { ts } = this;
    const K = ts.SyntaxKind;
    this.heap.spend(1);
    switch (node.kind) {
      case K.Identifier:
        return this.name(node);
      case K.ParenthesizedExpression:
      case K.AsExpression:
      case K.SatisfiesExpression:
      case K.NonNullExpression:
      case K.TypeAssertionExpression:
      case K.ExpressionWithTypeArguments:
        return this.value(node.expression);
      case K.NumericLiteral:
      case K.BigIntLiteral:
      case K.StringLiteral:
      case K.NoSubstitutionTemplateLiteral:
      case K.TrueKeyword:
      case K.FalseKeyword:
      case K.NullKeyword:
        return PRIMITIVE;
      case K.TemplateExpression:
        for (const span of node.templateSpans) this.value(span.expression);
        return PRIMITIVE;
      case K.RegularExpressionLiteral:
        return this.made(node, "regexp", PRIMITIVE);
      case K.TypeOfExpression:
      case K.VoidExpression:
        this.value(node.expression);
        return PRIMITIVE;
      case K.DeleteExpression: {
        const target = ts.skipOuterExpressions(node.expression);
        if (!ts.isPropertyAccessExpression(target) && !ts.isElementAccessExpression(target)) return this.undecided(node, "deletes what is no member");
        const holder = this.value(target.expression);
        this.memberName(target);
        for (const each of holder) this.heap.touch(each);
        if (holder.has(VIEW)) this.tell(node, `deletes a member of ${NOT_ITS_OWN}`);
        return PRIMITIVE;
      }
      case K.PrefixUnaryExpression:
      case K.PostfixUnaryExpression:
        if (node.operator === K.PlusPlusToken || node.operator === K.MinusMinusToken) this.assign(node.operand, PRIMITIVE);
        this.value(node.operand);
        return PRIMITIVE;
      case K.BinaryExpression:
        return this.binary(node);
      case K.ConditionalExpression:
        this.value(node.condition);
        return union(this.guarded(node.condition, node.whenTrue), this.value(node.whenFalse));
      case K.ArrayLiteralExpression:
        return this.made(node, "array", union(...node.elements.map((each) => this.item(each))));
      case K.ObjectLiteralExpression:
        return this.object(node);
      case K.PropertyAccessExpression:
      case K.ElementAccessExpression: {
        const pure = this.calls.globalName(node);
        if (pure !== undefined && PURE_FUNCTIONS.has(pure)) return pureValue;
        const holder = this.value(node.expression);
        return this.read(holder, this.memberName(node), node);
      }
      case K.ArrowFunction:
      case K.FunctionExpression:
        return new Set([this.functionOf(node).id]);
      case K.CallExpression:
        return this.calls.call(node);
      case K.NewExpression:
        return this.calls.construct(node);
      default:
        return this.undecided(node, `has ${this.kindWords(node)}, which is not followed`);
    }
  }

  /** The value of `a[k]` right after `Object.hasOwn(a, k)` held is a member of a's own, and no inherited built-in. */
  guarded(condition, node) {
    const { ts } = this;
    const read = ts.skipOuterExpressions(node);
    let test = ts.skipOuterExpressions(condition);
    while (ts.isBinaryExpression(test) && test.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken) test = ts.skipOuterExpressions(test.right);
    const asks = ts.isCallExpression(test) && test.arguments.length === 2 && this.calls.globalName(ts.skipOuterExpressions(test.expression)) === "Object.hasOwn";
    if (asks && ts.isElementAccessExpression(read)) {
      const [holder, key] = test.arguments;
      if (this.same(holder, read.expression) && this.same(key, read.argumentExpression)) {
        // a list or object as a key is one text, then another, when it changes between the two
        const keys = this.value(read.argumentExpression);
        const holders = this.value(read.expression);
        const steady = !this.heap.some(keys, (kind) => kind !== "view" && (kind !== "event" || this.heap.objects[EVENT].written));
        if (steady && !this.heap.some(holders, (kind) => kind === "function")) return this.heap.members(holders);
      }
    }
    return this.value(node);
  }

  /** Whether two expressions name the same thing: a variable, or a member of the same thing. */
  same(one, other) {
    const { ts } = this;
    const a = ts.skipOuterExpressions(one);
    const b = ts.skipOuterExpressions(other);
    if (ts.isIdentifier(a) && ts.isIdentifier(b)) return a.text === b.text && this.symbolOf(a) === this.symbolOf(b);
    if (!ts.isPropertyAccessExpression(a) || !ts.isPropertyAccessExpression(b)) return false;
    return a.name.text === b.name.text && this.same(a.expression, b.expression);
  }

  item(element) {
    if (this.ts.isOmittedExpression(element)) return PRIMITIVE;
    if (this.ts.isSpreadElement(element)) return this.heap.elements(this.value(element.expression));
    return this.value(element);
  }

  name(node) {
    const { text } = node;
    const symbol = this.symbolOf(node);
    const declarations = symbol?.declarations ?? [];
    if (declarations.length > 0 && declarations.every((each) => each.getSourceFile() === this.source)) {
      const body = declarations.find((each) => this.ts.isFunctionLike(each) && each.body !== undefined);
      const known = this.variable(symbol);
      return body === undefined ? known : union(known, new Set([this.functionOf(body).id]));
    }
    if (PRIMITIVE_GLOBALS.has(text)) return PRIMITIVE;
    if (PURE_FUNCTIONS.has(text)) return pureValue;
    if (GLOBALS.has(text)) return builtinValue;
    return this.undecided(node, `uses ${text}, which is not followed`);
  }

  object(node) {
    const { ts } = this;
    const parts = node.properties.map((property) => {
      if (ts.isSpreadAssignment(property)) return this.heap.elements(this.value(property.expression));
      if (ts.isShorthandPropertyAssignment(property)) return this.name(property.name);
      if (!ts.isPropertyAssignment(property)) return this.undecided(property, `has ${this.kindWords(property)}, which is not followed`);
      const name = this.nameOf(property.name);
      if (name === "__proto__") this.undecided(property, "gives an object a prototype");
      return this.value(property.initializer);
    });
    return this.made(node, "object", union(...parts));
  }

  binary(node) {
    const { ts } = this;
    const K = ts.SyntaxKind;
    const operator = node.operatorToken.kind;
    if (operator === K.EqualsToken) {
      const value = this.value(node.right);
      this.assign(node.left, value);
      return value;
    }
    if (operator >= K.FirstAssignment && operator <= K.LastAssignment) {
      const logical = operator === K.AmpersandAmpersandEqualsToken || operator === K.BarBarEqualsToken || operator === K.QuestionQuestionEqualsToken;
      const right = this.value(node.right);
      const given = logical ? right : PRIMITIVE;
      this.assign(node.left, given);
      return union(given, logical ? this.value(node.left) : PRIMITIVE);
    }
    const left = this.value(node.left);
    const right = operator === K.AmpersandAmpersandToken ? this.guarded(node.left, node.right) : this.value(node.right);
    if (operator === K.CommaToken) return right;
    if (operator === K.AmpersandAmpersandToken || operator === K.BarBarToken || operator === K.QuestionQuestionToken) return union(left, right);
    return PRIMITIVE;
  }
}
