import { expect, test } from 'vitest'

import { HostStage } from '../test/host-stage.ts'
import type { ProtocolError } from './index.ts'

test('a server that does not announce its tools and breaks the format of answers can be used', async () => {
  const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('careless') }))
  expect(stage.toolsOf('it')).toHaveLength(4)
  const progress: unknown[] = []
  const onProgress = (report: unknown): void => void progress.push(report)
  const fine = await stage.host.callTool('it.error-of-null', {}, { onProgress })
  expect(fine).toEqual({ content: [{ type: 'text', text: 'fine' }] })
  expect(progress).toEqual([{ progress: 1 }])
  const failures = ['error-code-in-words', 'error-without-code', 'error-as-text'].map((name) =>
    stage.host.forward('it', 'tools/call', { name }).catch((error: unknown) => error),
  )
  const errors = (await Promise.all(failures)) as ProtocolError[]
  // A gateway sends these errors to its clients.
  expect(errors.map(({ rpcError }) => rpcError)).toEqual([
    { code: -32_603, message: 'no', data: { code: 'E_NO' } },
    { code: -32_603, message: 'no' },
    { code: -32_603, message: 'no' },
  ])
  expect(stage.logged.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
})

const info = { name: 'it', version: '1' }

test.each([
  [{ result: { capabilities: {}, serverInfo: info } }, /handshake is faulty: protocolVersion: /],
  [
    { result: { protocolVersion: '2025-06-18', capabilities: null, serverInfo: info } },
    /: capabilities: /,
  ],
  [
    { result: { protocolVersion: '1999-01-01', capabilities: {}, serverInfo: info } },
    /version is not supported: 1999-01-01/,
  ],
  [{ result: 'hello' }, /refused the handshake: its result is not an object/],
  [
    { error: { code: 401, message: 'TOKEN is missing' } },
    /refused the handshake: TOKEN is missing/,
  ],
  [{ error: 'TOKEN is missing' }, /refused the handshake: TOKEN is missing/],
])(
  'a start fails with the reason when a server answers the handshake with %j',
  async (answer, why) => {
    const stage = await HostStage.open()
    const server = stage.workspace.fixture('careless', JSON.stringify(answer))
    const start = stage.host.initialize({ servers: { it: server } })
    await expect(start).rejects.toThrow(why)
  },
)
