import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CatalogEntry, ServerName } from '@mcp-host/contracts'
import { approvalRule } from '@mcp-host/contracts'
import { PolicyFile } from '@mcp-host/policy'
import { testFolder } from '@mcp-host/testkit'
import { AccessPolicy } from '@mcp-host/mcp-endpoint'
import type { FastifyInstance } from 'fastify'
import { fastify } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { addExplainCall } from './explain-call.ts'

let app: FastifyInstance
let folder: Awaited<ReturnType<typeof testFolder>>

const inputSchema = { type: 'object' }
const CATALOG: readonly CatalogEntry[] = [
  { kind: 'supervisor', id: 's', startedAt: 0, servers: {} },
  {
    kind: 'server',
    server: 'files' as ServerName,
    supervisor: 's',
    state: 'ready',
    tools: [
      { name: 'read', inputSchema, annotations: { readOnlyHint: true } },
      { name: 'write', inputSchema },
      { name: 'changed', inputSchema },
    ],
    prompts: [{ name: 'greet' }],
    resources: [{ uri: 'mem://1', name: 'one' }],
  },
]

const RULES = [
  { name: 'admins', roles: 'admin', effect: 'allow' },
  { arguments: { path: '/etc/*' }, effect: 'deny', reason: 'system files' },
  { annotation: '@destructive', effect: 'approve' },
  { prompt: 'greet', effect: 'deny' },
]

beforeEach(async () => {
  folder = await testFolder()
  const policyFile = join(folder.path, 'policy.json')
  const lines = RULES.map((rule) => JSON.stringify(rule)).join(',\n')
  await writeFile(policyFile, `{ "rules": [\n${lines}\n] }`)
  const policy = new AccessPolicy({
    needsApproval: approvalRule(['files.read']),
    quarantine: { hasQuarantined: true, isQuarantined: (_, tool) => tool === 'changed' },
  })
  policy.set(PolicyFile.parse({ rules: RULES }))
  app = fastify()
  app.setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler)
  const entries = new Map(CATALOG.map((entry, index) => [String(index), entry]))
  addExplainCall(app.withTypeProvider<ZodTypeProvider>(), {
    policy,
    policyFile,
    catalog: { entries },
  })
})
afterEach(async () => {
  await app.close()
  await folder[Symbol.asyncDispose]()
})

async function explain(call: object) {
  const payload = { principal: 'user:ann', server: 'files', ...call }
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/policy/explain',
    payload,
  })
  expect(statusCode).toBe(200)
  return JSON.parse(body) as unknown
}

test('the rule that decides is named, with why the others do not', async () => {
  expect(await explain({ tool: 'write', arguments: { path: '/etc/passwd' } })).toEqual({
    effect: 'deny',
    decidedBy: 'rule',
    rule: 'rule 2',
    reason: 'system files',
    isKnown: true,
    file: 'policy.json',
    rules: [
      {
        rule: 'admins',
        text: 'allow everything for role admin',
        line: 2,
        verdict: 'does not match',
        mismatch: 'roles',
      },
      {
        rule: 'rule 2',
        text: 'deny tool *.* if path is /etc/*',
        line: 3,
        verdict: 'decides',
      },
      {
        rule: 'rule 3',
        text: 'approve tool *.* that is @destructive',
        line: 4,
        verdict: 'comes too late',
      },
      {
        rule: 'rule 4',
        text: 'deny prompt *.greet',
        line: 5,
        verdict: 'does not match',
        mismatch: 'prompt',
      },
    ],
  })
})

test('what the server says of a tool counts', async () => {
  const write = await explain({ tool: 'write' })
  expect(write).toMatchObject({ effect: 'approve', decidedBy: 'rule', rule: 'rule 3' })
  expect(await explain({ tool: 'read' })).toMatchObject({ decidedBy: 'tool-approval' })
})

test('roles of the request count, and TOOL_APPROVAL asks for what the policy allows', async () => {
  const write = await explain({ tool: 'write', roles: ['admin'] })
  expect(write).toMatchObject({ effect: 'allow', rule: 'admins' })
  const read = await explain({ tool: 'read' })
  expect(read).toMatchObject({ effect: 'approve', decidedBy: 'tool-approval' })
})

test('a prompt and a resource are explained by the rules for them', async () => {
  expect(await explain({ prompt: 'greet' })).toMatchObject({ effect: 'deny', isKnown: true })
  expect(await explain({ resource: 'mem://1' })).toMatchObject({
    effect: 'allow',
    decidedBy: 'default',
    isKnown: true,
    rules: [{}, { mismatch: 'arguments' }, { mismatch: 'annotation' }, { mismatch: 'prompt' }],
  })
  expect(await explain({ resource: 'mem://2' })).toMatchObject({ isKnown: false })
})

test.each([{}, { tool: 'a', prompt: 'b' }])('a request that names %j is refused', async (named) => {
  const payload = { principal: 'user:ann', server: 'files', ...named }
  const { body } = await app.inject({ method: 'POST', url: '/policy/explain', payload })
  expect(body).toContain('only one of them')
})

test('a tool whose definition has changed is denied, and an unknown one is said to be unknown', async () => {
  const changed = await explain({ tool: 'changed', roles: ['admin'] })
  expect(changed).toMatchObject({ effect: 'deny', decidedBy: 'quarantine' })
  const other = await explain({ tool: 'other', roles: ['admin'] })
  expect(other).toMatchObject({ effect: 'allow', isKnown: false })
})
