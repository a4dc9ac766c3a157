// The programs of examples/, run as documented.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { LLMock } from '@copilotkit/aimock'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test } from 'vitest'

const root = join(import.meta.dirname, '..')

test('the weather example answers a call, and an unknown city with the known ones', async () => {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ['examples/weather/server.ts'],
      cwd: root,
    }),
  )
  try {
    const forecast = (city: string): ReturnType<Client['callTool']> =>
      client.callTool({ name: 'get_forecast', arguments: { city, days: 2 } })
    const oslo = await forecast('Oslo')
    expect(oslo.structuredContent).toMatchObject({ city: 'Oslo', days: [{}, {}] })
    expect(await forecast('Atlantis')).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('Known: berlin') }],
    })
    const { contents } = await client.readResource({ uri: 'weather://cities' })
    expect(contents).toMatchObject([{ mimeType: 'application/json' }])
  } finally {
    await client.close()
  }
})

test('a copy of the weather example installs the tested versions of its libraries', async () => {
  const manifest = JSON.parse(
    await readFile(join(root, 'examples/weather/package.json'), 'utf8'),
  ) as {
    dependencies: Record<string, string>
  }
  const catalog = await readFile(join(root, 'pnpm-workspace.yaml'), 'utf8')
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    expect(catalog.replaceAll('"', '')).toContain(`  ${name}: ${version}\n`)
  }
})

test(
  'the agent example answers with the result of its tool without control characters',
  { timeout: 30_000 },
  async () => {
    const model = new LLMock({ port: 0 })
    await model.start()
    onTestFinished(() => model.stop())
    const call = {
      id: 'call-1',
      name: 'weather__get_forecast',
      arguments: '{"city":"Oslo","days":1}',
    }
    // The first matching rule applies, and the question stays in the conversation.
    model.onToolResult('call-1', { content: 'Take \u001B[2Ja \u009B2J\u202Ecoat.\n' })
    model.onMessage('What is the weather in Oslo?', { toolCalls: [call] })
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ['examples/agent/agent.ts'],
      { cwd: root, env: { ...process.env, LLM_BASE_URL: `${model.url}/v1`, LLM_API_KEY: 'none' } },
    )
    expect(stderr).toContain('→ weather__get_forecast {"city":"Oslo","days":1}')
    expect(stdout).toBe('Take  [2Ja  2J coat.\n\n')
    expect(JSON.stringify(model.getLastRequest()?.body)).toContain('°C')
  },
)
