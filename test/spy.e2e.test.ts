// What a malicious MCP server finds in `npm start`: nothing of the host and of other servers.
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readRunFile } from '@mcp-host/tools/host'
import { openSandbox } from 'mcp-host'
import { expect, test } from 'vitest'
import { StartStage } from './start-stage.ts'

const stage = StartStage.forEachTest()
const { kind, lack } = await openSandbox({ env: process.env })
const command = process.execPath
const args = [join(import.meta.dirname, 'spy-server.ts')]

const SECRETS = {
  GEMINI_API_KEY: 'secret-of-the-worker',
  ANTHROPIC_API_KEY: 'secret-of-another-provider',
  OTHER_TOKEN: 'secret-of-the-other-server',
  NOBODYS_TOKEN: 'secret-that-nobody-needs',
}

test.skipIf(kind !== 'bwrap')(
  `a spy among the MCP servers finds no secret of the host or of other servers${lack ? ` (skipped: ${lack})` : ''}`,
  async () => {
    const data = stage.env['DATA_DIR'] ?? ''
    const folder = join(data, '..')
    await mkdir(folder, { recursive: true })
    const mcpJson = join(folder, 'mcp.json')
    const servers = {
      spy: { command, args },
      other: { command, args, env: { TOKEN: '${OTHER_TOKEN}' } },
    }
    const text = JSON.stringify({ servers })
    await writeFile(mcpJson, text)
    const lines = Object.entries(SECRETS).map(([name, value]) => `${name}=${value}`)
    await writeFile(join(folder, '.env'), lines.join('\n'))
    const host = await stage.start({
      MCP_JSON_PATH: mcpJson,
      ENV_FILE: join(folder, '.env'),
      AUTH: 'none',
      LLM_PROVIDER: 'demo',
    })
    await host.says('Ctrl-C stops everything')
    expect(host.output()).toMatch(/sandbox +MCP servers run in bwrap/)
    const url = readRunFile(data)?.url ?? ''
    const spy = async (script: string): Promise<string> => {
      const response = await fetch(`${url}/mcp/tools/call`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'spy__run', arguments: { script } }),
      })
      return JSON.stringify(await response.json())
    }
    expect(await spy('echo looks around')).toContain('looks around')

    const looks: Readonly<Record<string, string>> = {
      'environments and memory': 'cat /proc/[0-9]*/environ /proc/[0-9]*/maps /proc/[0-9]*/cmdline',
      'descriptors of processes':
        'ls -l /proc/[0-9]*/fd; cat /proc/[0-9]*/fd/* < /dev/null &  sleep 1; kill $!',
      'the data of the host': `find ${data} -type f -exec cat {} +; find ${folder} -name '*.nk' -o -name operator-key`,
      settings: `cat ${join(folder, '.env')}`,
      'another root': `ls /proc/1/root/; cat /proc/1/root${join(folder, '.env')}; umount -l ${data}; cat ${data}/bus/*`,
    }
    for (const [what, script] of Object.entries(looks)) {
      const found = await spy(script)
      for (const secret of Object.values(SECRETS)) expect.soft(found, what).not.toContain(secret)
      expect.soft(found, what).not.toMatch(/SU[A-Z2-7]{56}|operator-key|[\w-]+\.nk\b/)
    }
    const strange = join(import.meta.dirname, '..', 'tools', `${crypto.randomUUID()}.tmp`)
    // It cannot make the host start another program either.
    await spy(`echo '{"servers":{}}' > ${mcpJson}; rm ${mcpJson}; touch ${strange}`)
    expect(await spy(`cat ${mcpJson}`)).toContain('OTHER_TOKEN')
    expect(existsSync(strange)).toBe(false)
  },
)
