import { expect, test } from 'vitest'

import { HostStage } from '../test/host-stage.ts'

const evil = { a: `${'a'.repeat(40)}!` }

test('a tool whose schema is too large is left out, and it is said why', async () => {
  const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('deep') }))
  expect(stage.toolsOf('it')).not.toContain('large-schema')
  expect(await stage.say('it.fine')).toBe('fine')
  const warned = stage.logged.filter(({ level }) => level === 'warn')
  expect(warned).toMatchObject([{ message: expect.stringContaining('has more than 20000 values') }])
})

test('answers and requests that are too deep fail alone, and say so', async () => {
  const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('deep') }))
  const tooDeep = 'is nested deeper than 256 levels'
  await expect(stage.host.callTool('it.deep-result', {})).rejects.toThrow(tooDeep)
  await expect(stage.host.callTool('it.deep-error', {})).rejects.toThrow(tooDeep)
  expect(await stage.say('it.deep-request')).toContain(tooDeep)
  expect(await stage.say('it.fine')).toBe('fine')
})

test('a check that takes too long is refused with its limit and a remedy, and nobody waits for it', async () => {
  const stage = await HostStage.start((workspace) => ({
    it: workspace.fixture('deep'),
    echo: workspace.fixture('echo'),
  }))
  let isOver = false
  const hostile = stage.host.callTool('it.pattern', evil).finally(() => (isOver = true))
  const refused = expect(hostile).rejects.toThrow(
    /arguments of "it\.pattern" could not be checked by its schema: it takes more than 2000 ms; .*"validateArguments": "off"/,
  )
  expect(await stage.say('echo.echo', { text: 'hello' })).toContain('hello')
  expect(isOver).toBe(false)
  await refused
})

test('a host shuts down while a check takes long', async () => {
  const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('deep') }))
  let isOver = false
  const hostile = stage.host.callTool('it.pattern', evil).finally(() => (isOver = true))
  const refused = expect(hostile).rejects.toThrow()
  await stage.host.shutdown()
  expect(isOver).toBe(false)
  await refused
})

test.each(['handshake', 'schema'])(
  'a server with a %s that is too deep cannot start, and it is said why',
  async (part) => {
    const stage = await HostStage.open()
    const start = stage.host.initialize({ servers: { it: stage.workspace.fixture('deep', part) } })
    await expect(start).rejects.toThrow('is nested deeper than 256 levels')
  },
)
