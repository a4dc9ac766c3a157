import type { CatalogEntry, ServerName } from '@mcp-host/contracts'
import { PolicyFile } from '@mcp-host/policy'
import { expect, test } from 'vitest'
import type { ExplainOptions, NamedUse } from './explain-use.ts'
import { explainUse } from './explain-use.ts'

const inputSchema = { type: 'object' }
const HOST: readonly CatalogEntry[] = [
  {
    kind: 'supervisor',
    id: 's',
    startedAt: 0,
    servers: {},
    configured: ['files', 'mail', 'web'] as ServerName[],
  },
  {
    kind: 'server',
    server: 'files' as ServerName,
    supervisor: 's',
    state: 'ready',
    tools: [
      { name: 'read', inputSchema, annotations: { readOnlyHint: true } },
      { name: 'delete', inputSchema },
    ],
    prompts: [{ name: 'greet' }],
    resources: [{ uri: 'mem://1', name: 'one' }],
  },
  {
    kind: 'server',
    server: 'mail' as ServerName,
    supervisor: 's',
    state: 'starting',
    tools: [],
  },
]
const policy = PolicyFile.parse({
  rules: [
    { name: 'no guests', roles: 'guest', effect: 'deny' },
    { tool: 'move', effect: 'approve' },
  ],
})

const use = (name: string, more: Partial<NamedUse> = {}): NamedUse => ({
  principal: { id: 'user:ann', roles: ['user'] },
  server: 'files',
  kind: 'tool',
  name,
  arguments: {},
  isReadOnly: false,
  ...more,
})
const explained = (named: NamedUse, options: Partial<ExplainOptions> = {}): string[] =>
  explainUse(named, { policy, lines: [3, 4], toolApproval: [], host: HOST, ...options })

test('an allowed call names the decider and the reason of each rule', () => {
  expect(explained(use('delete'))).toEqual([
    'allow, decided by the default',
    '  no guests   does not match: roles   (line 3: deny everything for role guest)',
    '  rule 2   does not match: tool   (line 4: approve tool *.move)',
  ])
})

test.each([
  [['files.del*'], 'delete', 'files.del*'],
  [['@writes'], 'delete', '@writes'],
])('with TOOL_APPROVAL=%s an allowed call of %s would wait, by %s', (toolApproval, name, rule) => {
  expect(explained(use(name), { toolApproval }).slice(0, 2)).toEqual([
    `approve, decided by TOOL_APPROVAL, where ${rule} selects the tool; the policy allows it by the default`,
    'The call would wait until a user allows it.',
  ])
})

test('TOOL_APPROVAL by what the server says of a tool is read from the running host', () => {
  const toolApproval = ['@writes']
  expect(explained(use('read'), { toolApproval })[0]).toBe('allow, decided by the default')
  const host = { why: 'no host runs' }
  expect(explained(use('read'), { toolApproval, host })[0]).toMatch(/^approve/)
  const told = use('read', { isReadOnly: true })
  expect(explained(told, { toolApproval, host })[0]).toMatch(/^allow/)
})

test('TOOL_APPROVAL changes nothing about a denied call, nor about prompts', () => {
  const toolApproval = ['*']
  const principal = { id: 'user:eve', roles: ['guest'] }
  expect(explained(use('delete', { principal }), { toolApproval })[0]).toBe(
    'deny, decided by no guests',
  )
  const greet = explained(use('greet', { kind: 'prompt' }), { toolApproval })
  expect(greet[0]).toBe('allow, decided by the default')
})

test('a rule with the effect approve says that the call would wait', () => {
  expect(explained(use('move')).slice(0, 2)).toEqual([
    'approve, decided by rule 2',
    'The call would wait until a user allows it.',
  ])
})

test.each<[string, NamedUse, string | undefined]>([
  ['a tool', use('delete'), undefined],
  ['a prompt', use('greet', { kind: 'prompt' }), undefined],
  ['a resource', use('mem://1', { kind: 'resource' }), undefined],
  ['an absent tool', use('delte'), 'The server files has no tool delte.'],
  [
    'an unlisted resource',
    use('mem://2', { kind: 'resource' }),
    'The server files lists no resource mem://2.',
  ],
  [
    'an absent server',
    use('delete', { server: 'fils' }),
    'The running host has no server fils. See its servers: npm run servers',
  ],
  [
    'a server that starts',
    use('send', { server: 'mail' }),
    'Not checked whether mail.send exists: the server mail is starting',
  ],
  [
    'a configured server that has not begun',
    use('get', { server: 'web' }),
    'Not checked whether web.get exists: the server web is absent',
  ],
])('the explanation says whether %s exists', (_, named, line) => {
  expect(explained(named)[3]).toBe(line)
})

test('without a running host it says that nothing was checked', () => {
  const lines = explained(use('delete'), { host: { why: 'no host runs on .data' } })
  expect(lines.at(-1)).toBe('Not checked whether files.delete exists: no host runs on .data')
})

test('a host that keeps the rules from before a fault of the file is said to decide by others', () => {
  const faults = 'policy.json does not exist; put it back'
  const kept: CatalogEntry = {
    kind: 'file-fault',
    setting: 'POLICY_CONFIG',
    process: 'gateway-1',
    file: 'policy.json',
    faults,
  }
  const other: CatalogEntry = { ...kept, setting: 'BUNDLES_CONFIG', file: 'bundles.json' }
  const lines = explainUse(use('read'), {
    policy,
    lines: [],
    toolApproval: [],
    host: [...HOST, kept, other],
  })
  expect(
    lines.filter((line) => line.startsWith('The running host decides by other rules')),
  ).toEqual([
    `The running host decides by other rules: policy.json is not taken over, and its contents before stay in effect: ${faults}`,
  ])
})
