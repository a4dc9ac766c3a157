// A linter plugin with one rule: objects must not be accessed by names that may come from outside, since they also have
// `constructor` and `__proto__`. The rule has no types, so it decides by the names of variables.

/** Names of variables whose values come from files, servers, clients or models. */
const OUTSIDE = new Set([
  'id',
  'method',
  'model',
  'name',
  'prompt',
  'provider',
  'server',
  'session',
  'tool',
  'uri',
])

const MESSAGE =
  'An object looked up by a name from outside also has "constructor" and "__proto__": use ownValue, Object.hasOwn or a Map.'

interface Node {
  readonly type: string
  readonly name?: string
  readonly computed?: boolean
  readonly operator?: string
  readonly property?: Node
  readonly callee?: Node
  readonly arguments?: readonly Node[]
  readonly left?: Node
}

interface Context {
  readonly report: (problem: { node: Node; message: string }) => void
}

const noLookup = {
  create: ({ report }: Context) => ({
    MemberExpression(node: Node) {
      if (node.computed === true && isOutside(node.property)) report({ node, message: MESSAGE })
    },
    BinaryExpression(node: Node) {
      const isConstant = node.left?.type === 'Literal' || node.left?.type === 'PrivateIdentifier'
      if (node.operator === 'in' && !isConstant) report({ node, message: MESSAGE })
    },
  }),
}

function isOutside(key: Node | undefined): boolean {
  if (key?.type === 'Identifier') return OUTSIDE.has(key.name ?? '')
  if (key?.type === 'MemberExpression') return key.computed !== true && isOutside(key.property)
  if (key?.type === 'CallExpression' && key.callee?.name === 'String') {
    return isOutside(key.arguments?.[0])
  }
  return false
}

const plugin = { meta: { name: 'outside-names' }, rules: { 'no-lookup': noLookup } }
// oxlint-disable-next-line import/no-default-export -- what the linter loads
export default plugin
