import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { MESSAGE_LIMITS, type MessageLimits } from '../intake/message-limits.ts'
import { Guardian, spawnGuarded } from '@mcp-host/process'
import { ProcessOutput } from './process-output.ts'
import { StdioTransport } from './stdio-transport.ts'
import { UnsentError } from '../errors/unsent-error.ts'

let guardian: Guardian
beforeEach(() => {
  guardian = new Guardian()
})
afterEach(() => guardian[Symbol.asyncDispose]())

const quiet = (): void => undefined
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }

const createOutput = (): ProcessOutput =>
  new ProcessOutput({
    logger,
    mask: (text) => text,
    quota: { take: () => true, leaveOut: () => undefined },
  })

function open(
  script: string,
  { output = createOutput(), limits = {} }: OpenOptions = {},
): StdioTransport {
  const program = { command: process.execPath, args: ['-e', script], cwd: '.', env: {} }
  return new StdioTransport(
    { logger, output, onLeftOut: quiet, limits: { ...MESSAGE_LIMITS, ...limits } },
    { spawn: () => spawnGuarded(guardian, program), graceMs: 1_000 },
  )
}

interface OpenOptions {
  readonly output?: ProcessOutput
  readonly limits?: Partial<MessageLimits>
}

/** The ids of the messages in a program's output, and `closed` at the end. */
async function readAll(script: string, limits: Partial<MessageLimits> = {}): Promise<unknown[]> {
  const transport = open(script, { limits })
  const received: unknown[] = []
  const closed = Promise.withResolvers<void>()
  Object.assign(transport, {
    onmessage: ({ id }: { id: number }) => void received.push(id),
    onclose() {
      received.push('closed')
      closed.resolve()
    },
  })
  await transport.start()
  await closed.promise
  await transport.close()
  return received
}

const message = `const message = (id, bytes = 0) => JSON.stringify({ jsonrpc: '2.0', id, result: { text: 'x'.repeat(bytes) } })`

test('messages keep their order behind a large one, and are read before the end', async () => {
  const lines = `[message(1), message(2, 12e6), message(3), 'hello', message(4, 5e6), message(5)]`
  const script = `${message}; process.stdout.write(${lines}.map((line) => line + '\\n').join(''))`
  expect(await readAll(script)).toEqual([1, 2, 3, 4, 5, 'closed'])
})

test('messages that a program wrote before its end are read, even behind a slow one', async () => {
  const script = `${message}; for (let id = 0; id < 8; id++) process.stdout.write(message(id, id === 0 ? 63e6 : 8e3) + '\\n')`
  expect(await readAll(script)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 'closed'])
})

test.each([0, 5e6])(
  'responses of about %i bytes with control characters are read, and those that are no JSON end their requests',
  async (bytes) => {
    const lines = `[
      message(1, ${bytes}).replace('xt":"', 'xt":"\u001b[1m\t'),
      message(2, ${bytes}).replace('"}}', '","n":NaN}}'),
      '{ "jsonrpc"',
      '{"jsonrpc":"2.0","id":9,"method":"x","params":NaN}',
      'hello {"id":8,',
      message(3),
    ]`
    const transport = open(
      `${message}; process.stdout.write(${lines}.map((line) => line + '\\n').join(''))`,
    )
    const received: JSONRPCMessage[] = []
    const closed = Promise.withResolvers<void>()
    Object.assign(transport, {
      onmessage: (each: JSONRPCMessage) => void received.push(each),
      onclose: closed.resolve,
    })
    await transport.start()
    await closed.promise
    await transport.close()
    expect(received).toMatchObject([
      { id: 1, result: { text: expect.stringContaining('\u001b[1m\t') } },
      { id: 2, error: { message: expect.stringMatching(/^its answer is no JSON \(near .*NaN/) } },
      { id: 3, result: {} },
    ])
  },
)

test('a large line that is no message is skipped', async () => {
  const lines = `['x'.repeat(5e6), '[' + 'x'.repeat(5e6), JSON.stringify(['x'.repeat(5e6)]), message(1)]`
  const script = `${message}; process.stdout.write(${lines}.map((line) => line + '\\n').join(''))`
  expect(await readAll(script)).toEqual([1, 'closed'])
})

test.each([
  [
    'of too many values',
    `[message(1, 5e6).replace(':{', ':{"list":[' + '{},'.repeat(600) + '1],')]`,
  ],
  [
    'of too many values in a small line',
    `['{"id":1,"jsonrpc":"2.0","result":[' + '{},'.repeat(600) + '1]}']`,
  ],
  [
    'nested too deep',
    `['{"jsonrpc":"2.0","result":' + '['.repeat(3e6) + ']'.repeat(3e6) + ',"id":1}']`,
  ],
])(
  'a result %s is an error to its request, and the next messages are read',
  async (_title, lines) => {
    const script = `${message}; process.stdout.write(${lines}.concat(message(2)).map((line) => line + '\\n').join(''))`
    const transport = open(script, { limits: { messageValues: 1_000 } })
    const received: JSONRPCMessage[] = []
    const closed = Promise.withResolvers<void>()
    Object.assign(transport, {
      onmessage: (answer: JSONRPCMessage) => void received.push(answer),
      onclose: closed.resolve,
    })
    await transport.start()
    await closed.promise
    expect(received).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32_000,
          message: expect.stringMatching(/^the answer (has more|is nested)/),
        },
      },
      { jsonrpc: '2.0', id: 2, result: { text: '' } },
    ])
    await transport.close()
  },
)

test('notifications and requests that are too large are dropped, and the server gets errors for the requests', async () => {
  const large = `const large = (more) => console.log(JSON.stringify({ jsonrpc: '2.0', method: 'x', params: 'x'.repeat(2000), ...more }))`
  const script = `${message}; ${large}; large({}); large({ id: 7 }); process.stdin.once('data', (told) => { const { id, error } = JSON.parse(told); console.log(message(error.message + id)); process.exit() })`
  const limits = { notificationBytes: 1_000, requestBytes: 1_000 }
  expect(await readAll(script, limits)).toEqual(['the request has more than 1000 bytes7', 'closed'])
})

test('a server whose refused messages are too many is disconnected with the reason', async () => {
  const script = `setInterval(() => console.log('{"jsonrpc":"2.0","method":"x","params":"' + 'x'.repeat(2000) + '"}'), 1)`
  const transport = open(script, {
    limits: { notificationBytes: 1_000, refusedBytesPerMinute: 10_000 },
  })
  const closed = Promise.withResolvers<void>()
  Object.assign(transport, { onclose: closed.resolve })
  await transport.start()
  await closed.promise
  expect(transport.closeReason).toMatch(
    /^sent messages of \d+ bytes within a minute that were refused$/,
  )
})

test('a message beyond the largest limit ends the connection after the messages before it', async () => {
  const script = `${message}; process.stdout.write([message(1), message(2, 5e6), message(3, 65 * 1024 * 1024), message(4)].map((line) => line + '\\n').join(''))`
  expect(await readAll(script)).toEqual([1, 2, 'closed'])
})

describe('failed writes', () => {
  const ping = (text = ''): JSONRPCMessage => ({
    jsonrpc: '2.0',
    method: 'ping',
    params: { text },
  })

  test('a message was not sent when the program has closed its input', async () => {
    const transport = open(`require('node:fs').closeSync(0); ${message}; console.log(message(1))`)
    const ready = Promise.withResolvers<void>()
    Object.assign(transport, { onmessage: () => ready.resolve() })
    await transport.start()
    await ready.promise
    for (let time = 0; time < 3; time += 1) {
      await expect(transport.send(ping())).rejects.toBeInstanceOf(UnsentError)
    }
    await transport.close()
  })

  test('a message may have been sent when the pipe breaks during the write', async () => {
    const transport = open(`setInterval(() => 0, 1e6)`)
    await transport.start()
    const failed = transport.send(ping('x'.repeat(8e6))).catch((error: unknown) => error)
    await Promise.resolve()
    process.kill(transport.pid ?? 0, 'SIGKILL')
    expect(await failed).toBeInstanceOf(Error)
    expect(await failed).not.toBeInstanceOf(UnsentError)
    await transport.close()
  })
})

test('messages with Unicode line separators are one line to a program that reads with readline', async () => {
  const echo = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => console.log(line))`
  const transport = open(echo)
  const echoed = Promise.withResolvers<unknown>()
  Object.assign(transport, { onmessage: echoed.resolve })
  await transport.start()
  const notification = { jsonrpc: '2.0', method: 'x', params: { text: 'a\u2028b\u2029c' } } as const
  await transport.send(notification)
  expect(await echoed.promise).toEqual(notification)
  await transport.close()
})

test('the end of a transport is reported after all of stderr is read, including an unterminated line', async () => {
  const output = createOutput()
  const transport = open(`process.stderr.write('the reason')`, { output })
  const closed = Promise.withResolvers<readonly string[]>()
  Object.assign(transport, { onclose: () => closed.resolve(output.lastLines) })
  await transport.start()
  expect(await closed.promise).toEqual(['the reason'])
})

test('a program that ends some time after its output is reported with its exit and its last line', async () => {
  const output = createOutput()
  const script = `require('fs').closeSync(1); setTimeout(() => { console.error('the reason'); process.exit(3) }, 400)`
  const transport = open(script, { output })
  const closed = Promise.withResolvers<readonly string[]>()
  Object.assign(transport, { onclose: () => closed.resolve(output.lastLines) })
  await transport.start()
  expect(await closed.promise).toEqual(['the reason'])
  expect(transport).toMatchObject({ exitCode: 3, closeReason: expect.stringContaining('3') })
})

test('a message of too many values is an error to its request before it is complete', async () => {
  const begin = `'{"jsonrpc":"2.0","id":1,"result":[' + '{},'.repeat(1e5)`
  const script = `process.stdout.write(${begin}); setInterval(() => 0, 1e6)`
  const transport = open(script, { limits: { messageValues: 1_000 } })
  const received = Promise.withResolvers<JSONRPCMessage>()
  Object.assign(transport, { onmessage: received.resolve })
  await transport.start()
  const error = { code: -32_000, message: expect.stringContaining('has more than 1000 values') }
  expect(await received.promise).toEqual({ jsonrpc: '2.0', id: 1, error })
  await transport.close()
})
