import { describe, expect, test } from 'vitest'
import { decide, isHidden, isServerHidden } from './decide.ts'
import { explain } from './explain.ts'
import { matchesPattern } from './matches-pattern.ts'
import { PolicyFile } from './policy-file.ts'

const ann = { id: 'user:ann', roles: ['dev'] }
const root = { id: 'user:root', roles: ['admin', 'dev'] }

const policy = PolicyFile.parse({
  rules: [
    { name: 'admins', roles: 'admin', effect: 'allow' },
    { users: ['key:*'], effect: 'deny', reason: 'keys call nothing' },
    { server: 'files', tool: 'delete*', effect: 'deny' },
    { server: 'files', tool: 'write', arguments: { path: '/etc/*' }, effect: 'deny' },
    { server: 'files', tool: ['write', 'move'], effect: 'approve' },
    { annotation: '@destructive', effect: 'approve' },
  ],
})

const SCHEMAS = {
  force: { type: 'boolean' },
  amount: { type: 'number' },
  code: { type: 'string' },
  tags: { type: 'array', items: { type: 'string' } },
}

const use = (principal: typeof ann, server: string, tool: string, args: unknown = {}) => ({
  principal,
  server,
  tool,
  annotations: () => (tool === 'wipe' ? { destructiveHint: true } : { readOnlyHint: true }),
  arguments: args,
  inputSchema: () => ({ properties: SCHEMAS }),
})

describe('a call', () => {
  test.each([
    [root, 'files', 'delete_all', {}, 'allow', 'admins'],
    [{ id: 'key:ci', roles: ['dev'] }, 'files', 'read', {}, 'deny', undefined],
    [ann, 'files', 'delete_all', {}, 'deny', undefined],
    [ann, 'files', 'delete\nall', {}, 'deny', undefined],
    [ann, 'files', 'read', {}, 'allow', undefined],
    [ann, 'files', 'write', { path: '/etc/passwd' }, 'deny', undefined],
    [ann, 'files', 'write', { path: '/tmp/x' }, 'approve', undefined],
    [ann, 'files', 'write', {}, 'approve', undefined],
    [ann, 'files', 'write', { path: ['/etc/x'] }, 'approve', undefined],
    [ann, 'other', 'wipe', {}, 'approve', undefined],
    [ann, 'other', 'delete', {}, 'allow', undefined],
  ] as const)('of %o to %s.%s %j is decided: %s', (who, server, tool, args, effect, name) => {
    const decision = decide(policy, use({ ...who, roles: [...who.roles] }, server, tool, args))
    expect(decision.effect).toBe(effect)
    if (name !== undefined) expect(decision.rule?.name).toBe(name)
  })

  test.each(['de\u200blete_all', 'delete_a\u2060ll', 'd\u{e0065}elete'])(
    'of a tool that looks like another has the same rules: %j',
    (tool) => {
      expect(decide(policy, use(ann, 'files', tool)).effect).toBe('deny')
    },
  )

  test('has the rules of a user, a role and an argument only if they are exactly those', () => {
    const exact = PolicyFile.parse({
      default: 'deny',
      rules: [
        { users: 'user:root', effect: 'allow' },
        { roles: 'admin', effect: 'allow' },
        { arguments: { path: '/safe/*' }, effect: 'allow' },
      ],
    })
    const other = { id: 'user:ro\u200bot', roles: ['ad\u200bmin'] }
    expect(decide(exact, use(other, 's', 'read', { path: '/sa\u200bfe/x' })).effect).toBe('deny')
    expect(decide(exact, use(ann, 's', 'read', { path: '/safe/x' })).effect).toBe('allow')
    expect(decide(exact, use(root, 's', 'read')).effect).toBe('allow')
  })

  test('that no rule matches is decided by the default', () => {
    const closed = PolicyFile.parse({ default: 'deny', rules: [{ tool: 'read', effect: 'allow' }] })
    expect(decide(closed, use(ann, 's', 'read')).effect).toBe('allow')
    expect(decide(closed, use(ann, 's', 'write'))).toEqual({ effect: 'deny' })
  })

  test('finds arguments by their path, and no inherited names', () => {
    const deep = PolicyFile.parse({
      rules: [
        { arguments: { 'target.kind': 'prod*', count: '10' }, effect: 'deny' },
        { arguments: { constructor: '*' }, effect: 'deny' },
      ],
    })
    const call = (args: unknown) => decide(deep, use(ann, 's', 't', args)).effect
    expect(call({ target: { kind: 'production' }, count: 10 })).toBe('deny')
    expect(call({ target: { kind: 'production' }, count: 11 })).toBe('allow')
    expect(call({ target: 'production', count: 10 })).toBe('allow')
    expect(call({})).toBe('allow')
    expect(call(null)).toBe('allow')
  })
})

describe('a tool', () => {
  test('is hidden when every call of it is denied', () => {
    expect(isHidden(policy, use(ann, 'files', 'delete_all'))).toBe(true)
    expect(isHidden(policy, use(root, 'files', 'delete_all'))).toBe(false)
    expect(isHidden(policy, use(ann, 'files', 'write'))).toBe(false)
    expect(isHidden(policy, use(ann, 'files', 'read'))).toBe(false)
  })

  test('that is denied for some arguments alone is listed, by the default too', () => {
    const some = (rules: object[], fallback: string) =>
      isHidden(PolicyFile.parse({ rules, default: fallback }), use(ann, 's', 't'))
    const denied = { arguments: { a: 'x' }, effect: 'deny' }
    expect(some([denied], 'allow')).toBe(false)
    expect(some([denied], 'deny')).toBe(true)
    expect(some([{ arguments: { a: 'x' }, effect: 'allow' }], 'deny')).toBe(false)
  })
})

describe('a rule about arguments', () => {
  const decideBy = (effect: string, patterns: object, args: object) =>
    decide(
      PolicyFile.parse({
        rules: [{ arguments: patterns, effect }],
        default: effect === 'allow' ? 'deny' : 'allow',
      }),
      use(ann, 's', 't', args),
    ).effect

  test.each([
    [{ force: 'true' }, { force: 'TRUE' }],
    [{ force: 'true' }, { force: ' true ' }],
    [{ force: 'true' }, { force: 1 }],
    [{ amount: '1000' }, { amount: '1e3' }],
    [{ amount: '1000' }, { amount: ' 1000' }],
    [{ amount: '1000' }, { amount: '01000' }],
    [{ tags: '["1",*' }, { tags: [1, 'a'] }],
  ])('%j is about what the server gets of %j', (patterns, args) => {
    expect(decideBy('deny', patterns, args)).toBe('deny')
    expect(decideBy('approve', patterns, args)).toBe('approve')
  })

  test.each([
    [{ amount: '1e*' }, { amount: '1e3' }, 'deny'],
    [{ force: '1' }, { force: 1 }, 'deny'],
    [{ force: '*' }, { force: 1 }, 'allow'],
    [{ amount: '1' }, { amount: 1 }, 'allow'],
    [{ code: '01*' }, { code: '0123' }, 'allow'],
    [{ code: 'TRUE' }, { code: 'TRUE' }, 'allow'],
    [{ amount: '*' }, {}, 'deny'],
  ])('%j allows only what matches in each form: %j: %s', (patterns, args, effect) => {
    expect(decideBy('allow', patterns, args)).toBe(effect)
  })

  test.each(['allow', 'approve', 'deny'] as const)(
    'to %s denies a call whose argument is too large to be decided about, with the reason',
    (effect) => {
      const read = PolicyFile.parse({
        rules: [{ arguments: { tags: 'x' }, effect, reason: 'other' }],
      })
      const call = use(ann, 's', 't', { tags: Array.from({ length: 400_000 }, () => 1) })
      const decision = decide({ ...read, default: 'allow' }, call)
      expect(decision).toMatchObject({
        effect: 'deny',
        reason: expect.stringContaining('too large'),
      })
      const { verdicts } = explain(read, call)
      expect(verdicts).toMatchObject([{ rule: 'rule 1', verdict: 'decides' }])
    },
  )

  test('counts for every type when the schema is not known', () => {
    const { rules } = PolicyFile.parse({
      rules: [{ arguments: { force: 'true' }, effect: 'deny' }],
    })
    const call = { ...use(ann, 's', 't', { force: 1 }), inputSchema: () => undefined }
    expect(decide({ rules, default: 'allow', pin: 'off' }, call).effect).toBe('deny')
  })
})

describe('a prompt or a resource', () => {
  const uses = {
    tool: use(ann, 's', 'x'),
    prompt: { principal: ann, server: 's', prompt: 'x' },
    resource: { principal: ann, server: 's', resource: 'x' },
  }
  const KINDS = ['tool', 'prompt', 'resource'] as const
  const deniedBy = (rule: object, more: object = {}): string[] =>
    KINDS.filter((kind) => {
      const read = PolicyFile.parse({ rules: [{ effect: 'deny', ...rule }], ...more })
      return decide(read, uses[kind]).effect === 'deny'
    })

  test.each([
    [{}, KINDS],
    [{ server: 's' }, KINDS],
    [{ server: 'other' }, []],
    [{ tool: '*' }, ['tool']],
    [{ prompt: '*' }, ['prompt']],
    [{ resource: '*' }, ['resource']],
    [{ tool: 'x', prompt: 'other' }, ['tool']],
    [{ prompt: 'x', resource: 'x' }, ['prompt', 'resource']],
    [{ annotation: '@writes' }, []],
    [{ arguments: {} }, ['tool']],
  ])('and a tool: the rule %j denies %j', (rule, kinds) => {
    expect(deniedBy(rule)).toEqual(kinds)
  })

  test('has the default like a tool', () => {
    expect(deniedBy({ tool: 'other' }, { default: 'deny' })).toEqual(KINDS)
  })

  test('waits for no approval', () => {
    for (const file of [{ rules: [{ effect: 'approve' }] }, { default: 'approve' }]) {
      const effects = KINDS.map((kind) => decide(PolicyFile.parse(file), uses[kind]).effect)
      expect(effects).toEqual(['approve', 'allow', 'allow'])
    }
  })

  test('is not listed when it is denied', () => {
    const read = PolicyFile.parse({ rules: [{ prompt: 'x', resource: 'x', effect: 'deny' }] })
    expect(KINDS.filter((kind) => isHidden(read, uses[kind]))).toEqual(['prompt', 'resource'])
  })

  test.each([
    ['file:///public/a', 'allow'],
    ['file:///public/../etc/passwd', 'deny'],
    ['file:///public/%2e%2e/etc/passwd', 'deny'],
    ['file:///public/%2E%2E%2fetc/passwd', 'deny'],
    ['file:///public/../public/a', 'allow'],
    [String.raw`file:///public/..\etc/passwd`, 'deny'],
    [String.raw`file:\\\etc\passwd`, 'deny'],
    ['file:///public/..%5cetc/passwd', 'deny'],
    ['file:///public/.\t./etc/passwd', 'deny'],
    ['file:///public/.\n./etc/passwd', 'deny'],
    ['file:///public/%2e\r%2e/etc/passwd', 'deny'],
    ['file:///public/.\0./etc/passwd', 'deny'],
    [' file:///etc/passwd', 'deny'],
    ['\u{a0}file:///etc/passwd', 'deny'],
    ['\u{1}fi\tle:///etc/passwd ', 'deny'],
    ['file:etc/passwd', 'deny'],
    ['file://127.0.0.1/etc/passwd', 'deny'],
    ['file:///public/a b/{name}/\u{fc}?q=[1]', 'allow'],
  ])('of the URI %j, of which a folder is allowed: %s', (resource, effect) => {
    const rules = [{ resource: 'file:///public/*', effect: 'allow' }]
    const closed = PolicyFile.parse({ rules, default: 'deny' })
    expect(decide(closed, { ...uses.resource, resource }).effect).toBe(effect)
    const open = PolicyFile.parse({ rules: [{ resource: 'file:///etc/*', effect: 'deny' }] })
    expect(decide(open, { ...uses.resource, resource }).effect).toBe(effect)
  })
})

test.each([
  [[{ server: 's', effect: 'deny' }], 'allow', true],
  [[{ server: 's', effect: 'approve' }], 'deny', false],
  [[{ server: 's', tool: 'read', effect: 'allow' }, { effect: 'deny' }], 'allow', false],
  [[{ server: 's', tool: '*', effect: 'deny' }], 'allow', false],
  [[{ server: 's', resource: '*', effect: 'deny' }], 'deny', true],
  [[{ roles: 'admin', effect: 'allow' }], 'deny', true],
  [[{ annotation: '@writes', effect: 'deny' }], 'allow', false],
  [[], 'allow', false],
])('with the rules %j and the default %s, the server is hidden: %j', (rules, fallback, hidden) => {
  const read = PolicyFile.parse({ rules, default: fallback })
  expect(isServerHidden(read, { principal: ann, server: 's' })).toBe(hidden)
})

test.each([
  [{ prompt: 'x', effect: 'approve' }, 'effect', 'only tools can wait for an approval'],
  [{ resource: 'x', tool: 'y', effect: 'approve' }, 'effect', 'for "resource"'],
  [{ resource: 'x', effect: 'deny', annotation: '@writes' }, 'annotation', 'is about tools'],
  [{ prompt: 'x', effect: 'deny', arguments: {} }, 'arguments', 'is about tools'],
  [{ prompt: 'x', effect: 'allow', limit: '1/m' }, 'limit', 'move "prompt" to a rule of its own'],
])('the rule %j is refused for its %s', (rule, part, message) => {
  const { error } = PolicyFile.safeParse({ rules: [rule] })
  expect(error?.issues).toMatchObject([{ path: ['rules', 0, part] }])
  expect(error?.issues[0]?.message).toContain(message)
})

test('an explanation says of every rule why it decides or not', () => {
  const { effect, verdicts } = explain(policy, use(ann, 'files', 'write', { path: '/tmp/x' }))
  expect(effect).toBe('approve')
  expect(verdicts).toMatchObject([
    { rule: 'admins', verdict: 'does not match', mismatch: 'roles' },
    { rule: 'rule 2', verdict: 'does not match', mismatch: 'users' },
    { rule: 'rule 3', verdict: 'does not match', mismatch: 'tool' },
    { rule: 'rule 4', verdict: 'does not match', mismatch: 'arguments' },
    { rule: 'rule 5', verdict: 'decides' },
    { rule: 'rule 6', verdict: 'does not match', mismatch: 'annotation' },
  ])
})

test.each([
  ['a', 'a', true],
  ['a', 'ab', false],
  ['*', '', true],
  ['*', 'a\nb', true],
  ['a*', 'abc', true],
  ['*c', 'abc', true],
  ['a*c', 'ac', true],
  ['ab*bc', 'abc', false],
  ['a*b*c', 'a--b--c', true],
  ['a*b*c', 'a--c--b', false],
  ['a.b', 'axb', false],
  ['**', 'x', true],
  ['caf\u00e9', 'cafe\u0301', false],
  ['admin', 'ad\u200bmin', false],
])('the pattern %j and the text %j: %s', (pattern, text, expected) => {
  expect(matchesPattern(pattern, text)).toBe(expected)
})

test('a pattern with many stars takes linear time', () => {
  expect(matchesPattern(`${'*a'.repeat(200)}b`, 'a'.repeat(1_000_000))).toBe(false)
})

test.each([
  [{ rules: [{ effect: 'maybe' }] }],
  [{ rules: [{ effect: 'deny', tools: 'x' }] }],
  [{ rules: [{ effect: 'deny', annotation: '@evil' }] }],
  [{ rules: [{ effect: 'deny', tool: [] }] }],
  [{ defaults: 'deny' }],
])('a faulty file %j is refused', (file) => {
  expect(PolicyFile.safeParse(file).success).toBe(false)
})
