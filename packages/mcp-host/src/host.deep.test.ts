import { expect, test } from 'vitest'

import { HostStage } from '../test/host-stage.ts'

const slowArguments = { a: `${'a'.repeat(40)}!` }

test('a tool whose schema is too large is left out with a warning', async () => {
  const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('deep') }))
  expect(stage.toolsOf('it')).not.toContain('large-schema')
  expect(await stage.call('it.fine')).toBe('fine')
  const warned = stage.logged.filter(({ level }) => level === 'warn')
  expect(warned).toMatchObject([{ message: expect.stringContaining('has more than 20000 values') }])
})

test('answers and requests that are nested too deep fail without affecting others', async () => {
  const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('deep') }))
  const tooDeep = 'is nested deeper than 256 levels'
  await expect(stage.host.callTool('it.deep-result', {})).rejects.toThrow(tooDeep)
  await expect(stage.host.callTool('it.deep-error', {})).rejects.toThrow(tooDeep)
  expect(await stage.call('it.deep-request')).toContain(tooDeep)
  expect(await stage.call('it.fine')).toBe('fine')
})

test('a schema check that takes too long is refused with its limit and a remedy, and blocks no other call', async () => {
  const stage = await HostStage.start((workspace) => ({
    it: workspace.fixture('deep'),
    echo: workspace.fixture('echo'),
  }))
  let isSettled = false
  const slowCall = stage.host
    .callTool('it.pattern', slowArguments)
    .finally(() => (isSettled = true))
  const refused = expect(slowCall).rejects.toThrow(
    /arguments of "it\.pattern" could not be checked by its schema: it takes more than 2000 ms; .*"validateArguments": "off"/,
  )
  expect(await stage.call('echo.echo', { text: 'hello' })).toContain('hello')
  expect(isSettled).toBe(false)
  await refused
})

test('a host shuts down during a slow schema check', async () => {
  const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('deep') }))
  let isSettled = false
  const slowCall = stage.host
    .callTool('it.pattern', slowArguments)
    .finally(() => (isSettled = true))
  const refused = expect(slowCall).rejects.toThrow()
  await stage.host.shutdown()
  expect(isSettled).toBe(false)
  await refused
})

test.each(['handshake', 'schema'])(
  'a server with a %s that is nested too deep fails to start with the reason',
  async (part) => {
    const stage = await HostStage.open()
    const start = stage.host.initialize({ servers: { it: stage.workspace.fixture('deep', part) } })
    await expect(start).rejects.toThrow('is nested deeper than 256 levels')
  },
)
