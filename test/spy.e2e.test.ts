// What a malicious MCP server finds in `npm start`: nothing of the host and of other servers.
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testFolder } from '@mcp-host/testkit'
import { readRunFile } from '@mcp-host/tools/host'
import { openSandbox } from '@mcp-host/upstream'
import { describe, expect, test } from 'vitest'
import { FOUND, looks, spyServers } from './spy.ts'
import { StartStage } from './start-stage.ts'

const stage = StartStage.forEachTest()
const { kind, lack } = await openSandbox({ env: process.env })
const reasons = {
  bwrap: kind === 'bwrap' ? '' : ` (skipped: ${lack})`,
  uid: process.getuid?.() === 0 ? '' : ' (skipped: only root can change its user)',
}

const SECRETS = {
  GEMINI_API_KEY: 'secret-of-the-worker',
  ANTHROPIC_API_KEY: 'secret-of-another-provider',
  OTHER_TOKEN: 'secret-of-the-other-server',
  NOBODYS_TOKEN: 'secret-that-nobody-needs',
}

describe.each(['bwrap', 'uid'] as const)('in the sandbox %s', (sandbox) => {
  test.skipIf(reasons[sandbox] !== '')(
    `a spy among the MCP servers finds no secret of the host or of other servers${reasons[sandbox]}`,
    async () => {
      const data = stage.env['DATA_DIR'] ?? ''
      const folder = join(data, '..')
      await mkdir(folder, { recursive: true })
      const mcpJson = join(folder, 'mcp.json')
      const open = stage.cleanup.use(await testFolder()).path
      await chmod(open, 0o755)
      // The user of a server cannot enter the folder with the program of the host.
      await copyFile(process.execPath, join(open, 'node'))
      await writeFile(mcpJson, JSON.stringify({ servers: spyServers(join(open, 'node')) }))
      const envFile = join(folder, '.env')
      const lines = Object.entries(SECRETS).map(([name, value]) => `${name}=${value}`)
      await writeFile(envFile, lines.join('\n'))
      const host = await stage.start({
        MCP_JSON_PATH: mcpJson,
        ENV_FILE: envFile,
        AUTH: 'none',
        LLM_PROVIDER: 'demo',
        SANDBOX: sandbox,
        ...(sandbox === 'uid' ? { SANDBOX_HOMES: join(open, 'homes') } : {}),
      })
      await host.says('Ctrl-C stops everything')
      expect(host.output()).toMatch(new RegExp(`sandbox +MCP servers run in ${sandbox}`))
      const url = readRunFile(data)?.url ?? ''
      const run = async (server: string, script: string): Promise<string> => {
        const response = await fetch(`${url}/mcp/tools/call`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name: `${server}__run`, arguments: { script } }),
        })
        return JSON.stringify(await response.json())
      }
      expect(await run('spy', 'echo looks around')).toContain('looks around')
      expect(await run('other', 'echo $TOKEN; cd; echo mine > file')).toContain(SECRETS.OTHER_TOKEN)

      const local = {
        'the data of the host': `find ${data} -type f -exec cat {} +; find ${folder} -name '*.nk' -o -name operator-key`,
        settings: `cat ${envFile} ${mcpJson}`,
        'another root': `cat /proc/1/root${envFile}; umount -l ${data}; cat ${data}/bus/*`,
      }
      for (const [what, script] of Object.entries({ ...looks, ...local })) {
        const found = await run('spy', script)
        for (const secret of Object.values(SECRETS)) expect.soft(found, what).not.toContain(secret)
        expect.soft(found, what).not.toMatch(FOUND)
        expect.soft(found, what).not.toMatch(/operator-key|[\w-]+\.nk\b/)
      }
      const strange = join(import.meta.dirname, '..', `${crypto.randomUUID()}.tmp`)
      // It cannot make the host start another program either, nor put another folder in the place of one of the host.
      await run('spy', `mv ${folder} ${folder}.old && mkdir -p ${data} && echo '{}' > ${mcpJson}`)
      expect(existsSync(`${folder}.old`)).toBe(false)
      await run('spy', `echo '{"servers":{}}' > ${mcpJson}; rm ${mcpJson}; touch ${strange}`)
      expect(await run('other', 'echo it is there')).toContain('it is there')
      expect(existsSync(strange)).toBe(false)
    },
  )
})
