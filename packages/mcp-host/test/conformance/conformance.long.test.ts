// The client scenarios of the conformance suite, each against a host in a process of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import { describe, expect, onTestFinished, test } from 'vitest'

/** The checks that each scenario makes, for each revision of the protocol. */
const scored = {
  '2025-11-25': {
    initialize: 1,
    tools_call: 2,
    'elicitation-sep1034-client-defaults': 5,
    'sse-retry': 3,
    'auth/metadata-default': 22,
    'auth/metadata-var1': 22,
    'auth/metadata-var2': 22,
    'auth/metadata-var3': 22,
    'auth/basic-cimd': 17,
    'auth/scope-from-www-authenticate': 18,
    'auth/scope-from-scopes-supported': 18,
    'auth/scope-omitted-when-undefined': 18,
    'auth/scope-step-up': 26,
    'auth/scope-retry-limit': 12,
    'auth/token-endpoint-auth-basic': 23,
    'auth/token-endpoint-auth-post': 23,
    'auth/token-endpoint-auth-none': 23,
    'auth/pre-registration': 17,
  },
  '2026-07-28': {
    tools_call: 2,
    'request-metadata': 8,
    'sep-2322-client-request-state': 5,
    'http-standard-headers': 10,
    'http-custom-headers': 18,
    'http-invalid-tool-headers': 12,
    'json-schema-ref-no-deref': 1,
    'auth/metadata-default': 21,
    'auth/metadata-var1': 21,
    'auth/metadata-var2': 21,
    'auth/metadata-var3': 21,
    'auth/basic-cimd': 15,
    'auth/scope-from-www-authenticate': 17,
    'auth/scope-from-scopes-supported': 17,
    'auth/scope-omitted-when-undefined': 17,
    'auth/scope-step-up': 28,
    'auth/scope-retry-limit': 13,
    'auth/token-endpoint-auth-basic': 22,
    'auth/token-endpoint-auth-post': 22,
    'auth/token-endpoint-auth-none': 22,
    'auth/pre-registration': 15,
    'auth/resource-mismatch': 2,
    'auth/offline-access-scope': 15,
    'auth/offline-access-not-supported': 17,
    'auth/authorization-server-migration': 33,
    'auth/iss-supported': 17,
    'auth/iss-not-advertised': 17,
    'auth/iss-supported-missing': 8,
    'auth/iss-wrong-issuer': 8,
    'auth/iss-unexpected': 8,
    'auth/iss-normalized': 8,
    'auth/metadata-issuer-mismatch': 3,
  },
}

/** The scenarios that the suite runs without counting them. */
const unscored = {
  '2025-11-25': { 'json-schema-2020-12-preservation': 9 },
  '2026-07-28': { 'json-schema-2020-12-preservation': 9 },
}

/** The scenarios of extensions, which the suite runs without counting them: the passed and all checks. */
const extensions = {
  'auth/client-credentials-jwt': '13/13',
  'auth/client-credentials-basic': '13/13',
  // The library has neither identity assertions, nor DPoP, nor identities of workloads.
  'auth/enterprise-managed-authorization': '9/11',
  'auth/dpop': '9/12',
  'auth/dpop-nonce': '9/14',
  'auth/wif-jwt-bearer': '8/9',
}

const manifest = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/conformance/package.json',
)
const suite = join(dirname(manifest), 'dist/index.js')
const client = `${process.execPath} ${join(import.meta.dirname, 'client.ts')}`

/**
 * Runs the suite and returns its output. The suite has a process group of its own, so that its client can be killed:
 * the suite's own time limit kills the shell around a hanging client, and not the client.
 */
async function runSuite(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [suite, ...args], { detached: true })
  onTestFinished(() => killGroup(child.pid))
  let output = ''
  const read = (chunk: Buffer): void => {
    output += chunk.toString()
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  await once(child, 'close')
  return output
}

function killGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL')
  } catch {
    // All processes of the group have ended.
  }
}

describe.each(['2025-11-25', '2026-07-28'] as const)('the conformance suite for %s', (revision) => {
  test('the conformance suite has the scenarios of this file', async () => {
    const list = await runSuite('list', '--requirements', revision)
    const [, ofClients = ''] = list.split('Client scenarios')
    const [required = '', reported = ''] = ofClients.split('Run and reported')
    const names = [
      ...required.matchAll(/- (\S+)/g),
      ...reported.matchAll(/- (\S+) \[client\]/g),
    ].map(([, name = '']) => name)
    const all = { ...scored[revision], ...unscored[revision], ...extensions }
    expect(names.toSorted()).toEqual(Object.keys(all).toSorted())
  })

  const scenarios = Object.entries({ ...scored[revision], ...unscored[revision] })
  for (const [scenario, checks] of scenarios) {
    // The scenario measures how soon the client reconnects, which a busy machine delays, so the test may be retried.
    const retry = scenario === 'sse-retry' ? 2 : 0
    test(`the scenario ${scenario} passes`, { timeout: 60_000, retry }, async () => {
      const run = ['--command', client, '--scenario', scenario, '--spec-version', revision]
      const output = await runSuite('client', ...run)
      expect(output).toContain(`Passed: ${checks}/${checks}, 0 failed, 0 warnings`)
      expect(output).toContain('OVERALL: PASSED')
    })
  }
})

describe('the conformance suite for extensions', () => {
  test.each(Object.entries(extensions))(
    '%s passes %s checks',
    { timeout: 60_000 },
    async (scenario, passed) => {
      const output = await runSuite('client', '--command', client, '--scenario', scenario)
      expect(output).toContain(`Passed: ${passed}, `)
    },
  )
})
