// Each alert fires on a running host when its fault is caused, and resolves when the fault is gone, in a real Prometheus.
import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { SmallDisk, Stack, StackOptions } from '@mcp-host/testkit'
import {
  canMount,
  ChatSocket,
  eventually,
  family,
  fullStream,
  script,
  smallDisk,
  startStack,
} from '@mcp-host/testkit'
import type { ServiceName } from '@mcp-host/tools/host'
import { SERVICES } from '@mcp-host/tools/host'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Prometheus } from './prometheus.ts'
import { startPrometheus } from './prometheus.ts'
import { readRules } from './rule-files.ts'

const bin = process.env['PROMETHEUS_BIN'] ?? ''
const isPresent = bin !== '' && spawnSync(bin, ['--version']).status === 0
const isMountable = isPresent && (await canMount())
const skipReason = isPresent ? '' : ' (skipped: PROMETHEUS_BIN names no Prometheus)'
const mountReason = isMountable || !isPresent ? '' : ' (skipped: it must mount a tmpfs)'

const inputSchema = { type: 'object', properties: {} }
const LIMIT_MS = 90_000
/** A route that needs a credential and an orchestrator. */
const MESSAGES = `/api/chat/session/${'a'.repeat(32)}/messages`
const seen = new Set<string>()
const clockOffsetsMs: Partial<Record<ServiceName, number>> = {}
let stack: Stack
let prometheus: Prometheus

/** Lets Prometheus read the present processes. */
async function watch(): Promise<void> {
  // Where clients authenticate, a gateway shows its metrics at its own port to admins alone.
  const urls = SERVICES.map(async (name) => {
    const [, url] = /"operationsUrl":"([^"]+)"/.exec(await stack.log(name)) ?? []
    return url ?? stack.urlOf(name)
  })
  await prometheus.setTargets(await Promise.all(urls))
  await eventually(async () => (await prometheus.value('count(mcp_host_broker_connected)')) === 4, {
    what: 'the first values',
  })
}

async function isFiring(alert: string): Promise<boolean> {
  return (await prometheus.firing()).some(({ alertname }) => alertname === alert)
}

/** Waits until an alert fires while `cause` goes on, and until it is resolved after `undo`. */
async function observe(
  alert: string,
  cause: () => Promise<unknown>,
  undo: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  expect(await isFiring(alert)).toBe(false)
  await cause()
  await eventually(() => isFiring(alert), { limitMs: LIMIT_MS, what: `${alert} to fire` })
  await undo()
  await eventually(async () => !(await isFiring(alert)), {
    limitMs: LIMIT_MS,
    what: `${alert} to resolve`,
  })
  seen.add(alert)
}

async function start(options: StackOptions): Promise<void> {
  stack = await startStack(options)
  prometheus = await startPrometheus(bin)
  await watch()
  await eventually(async () => (await prometheus.firing()).length === 0, { what: 'quiet' })
}

async function stop(): Promise<void> {
  await prometheus?.[Symbol.asyncDispose]()
  await stack?.[Symbol.asyncDispose]()
}

/** Calls a tool through `/mcp` many times, some at once. */
async function callTools(name: string, rounds: number, atOnce: number): Promise<void> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${stack.url}/mcp`)))
  // Some are meant to fail.
  const call = (): Promise<unknown> =>
    client.callTool({ name, arguments: {} }).catch(() => undefined)
  for (let round = 0; round < rounds; round++) {
    await Promise.all(Array.from({ length: atOnce }, call))
  }
  await client.close()
}

async function changeServers(change: (servers: Record<string, object>) => void): Promise<void> {
  const config = JSON.parse(await readFile(stack.mcpJson, 'utf8')) as {
    servers: Record<string, object>
  }
  change(config.servers)
  await writeFile(stack.mcpJson, JSON.stringify(config))
}

describe.skipIf(!isPresent)(`a host${skipReason}`, { timeout: 240_000 }, () => {
  beforeAll(
    () =>
      start({
        tools: [
          { name: 'echo', inputSchema },
          { name: 'slow', inputSchema, delayMs: 2_000 },
        ],
        servers: { other: { timeoutMs: 200, circuitBreaker: { openMs: 1_000 } } },
        env: { AUDIT: 'async' },
        clockOffsetsMs,
      }),
    120_000,
  )
  afterAll(stop)

  test.each([
    ['NoWorker', 'llm-worker'],
    ['NoSupervisor', 'mcp-supervisor'],
    ['NoOrchestrator', 'orchestrator'],
    ['NoGateway', 'gateway'],
  ] as const)('%s', async (alert, service) => {
    await observe(
      alert,
      () => stack.kill(service),
      async () => {
        await stack.restart(service)
        await watch()
      },
    )
  })

  test('ServiceRestarting', async () => {
    await observe('ServiceRestarting', async () => {
      for (let restarts = 0; restarts < 3; restarts++) {
        await delay(1_500)
        // A gateway gets its old port again, as a container keeps its address.
        await stack.kill('gateway')
        await stack.restart('gateway')
      }
    })
  })

  test('TurnsFailing and ModelFailing', async () => {
    const fail = async (): Promise<void> => {
      using chat = await ChatSocket.open({ url: stack.url })
      const error = { afterTokens: 0, message: 'no', code: 'invalid' }
      for (let turns = 1; turns <= 12; turns++) {
        chat.say(script({ error }))
        await chat.turnsDone(turns)
        await delay(500)
      }
    }
    await Promise.all([observe('TurnsFailing', fail), observe('ModelFailing', fail)])
  })

  test('BacklogGrowing', async () => {
    using chat = await ChatSocket.open({ url: stack.url })
    await observe(
      'BacklogGrowing',
      async () => {
        chat.say(script({ hang: true }))
        for (let messages = 0; messages < 60; messages++) chat.say(script({ text: 'ok' }))
      },
      async () => {
        chat.send({ type: 'cancel' })
        await chat.turnsDone(61)
      },
    )
  })

  test('FirstTextLate', async () => {
    const late = script({ reasoning: 'well', text: 'late', tokensPerSecond: 0.09 })
    await observe('FirstTextLate', async () => {
      const chats = await Promise.all(
        Array.from({ length: 30 }, () => ChatSocket.open({ url: stack.url })),
      )
      for (const chat of chats) chat.say(late)
      await Promise.all(chats.map((chat) => chat.turnsDone()))
      for (const chat of chats) chat[Symbol.dispose]()
    })
  })

  test('ServerDown', async () => {
    await observe(
      'ServerDown',
      () =>
        changeServers((servers) => {
          servers['gone'] = { command: '/bin/false' }
        }),
      () =>
        changeServers((servers) => {
          delete servers['gone']
        }),
    )
  })

  test('ServerFlapping', async () => {
    const restarts = () => prometheus.value('sum(mcp_host_server_restarts_total)')
    await observe('ServerFlapping', async () => {
      const supervisor = stack.pids()['mcp-supervisor'] ?? 0
      for (let kills = 1; kills <= 4; kills++) {
        for (const pid of await family(supervisor)) {
          if (await isToolServer(pid)) process.kill(pid, 'SIGKILL')
        }
        // Both servers are back.
        await eventually(async () => (await restarts()) === 2 * kills, { what: 'a restart' })
      }
    })
  })

  test('ClockWrong', async () => {
    const restart = async (offsetMs: number): Promise<void> => {
      clockOffsetsMs['llm-worker'] = offsetMs
      await stack.kill('llm-worker')
      await stack.restart('llm-worker')
      await watch()
    }
    await observe(
      'ClockWrong',
      () => restart(5_000),
      () => restart(0),
    )
  })

  test('BreakerOpen', async () => {
    await observe('BreakerOpen', () => callTools('other__slow', 6, 1))
  })

  test('AuditLagging and AuditLosing', async () => {
    const full = await fullStream(stack.broker, 'AUDIT')
    // More entries than may wait.
    const called = callTools('test__echo', 130, 100)
    await Promise.all([
      observe(
        'AuditLagging',
        () => called,
        async () => full[Symbol.asyncDispose](),
      ),
      observe('AuditLosing', () => called),
    ])
  })

  test('BrokerUnreachable and RequestsFailing', async () => {
    const ask = (): Promise<unknown> => fetch(stack.url + MESSAGES).catch(() => undefined)
    const askOften = async (): Promise<void> => {
      for (let rounds = 0; rounds < 3; rounds++) await Promise.all(Array.from({ length: 20 }, ask))
    }
    await Promise.all([
      observe(
        'BrokerUnreachable',
        () => stack.broker.kill(),
        async () => {
          await eventually(() => isFiring('RequestsFailing'), { limitMs: LIMIT_MS })
          await stack.broker.start()
        },
      ),
      observe('RequestsFailing', askOften),
    ])
  })
})

describe.skipIf(!isMountable)(
  `a host with a small disk and keys${skipReason}${mountReason}`,
  { timeout: 240_000 },
  () => {
    let disk: SmallDisk
    beforeAll(async () => {
      disk = await smallDisk(64)
      await start({
        brokerFolder: disk.path,
        env: { AUTH: 'keys', OPS_PORT: '0', STORE_DIR: disk.path, STORE_MIN_FREE_MB: '2' },
      })
    }, 120_000)
    afterAll(async () => {
      await stop()
      await disk?.[Symbol.asyncDispose]()
    })

    test('CredentialsRefused', async () => {
      const guess = async (): Promise<void> => {
        const headers = { authorization: 'Bearer wrong' }
        for (let guesses = 0; guesses < 100; guesses++) {
          await fetch(stack.url + MESSAGES, { headers })
          await delay(200)
        }
      }
      await observe('CredentialsRefused', guess)
    })

    test('StorageLow and StorageFaulty', async () => {
      await Promise.all([
        observe('StorageLow', () => disk.fill()),
        observe(
          'StorageFaulty',
          () => eventually(() => isFiring('StorageLow'), { limitMs: LIMIT_MS }),
          async () => {
            await disk.free()
            await stack.broker.kill()
            await stack.broker.start()
          },
        ),
      ])
    })
  },
)

test.skipIf(!isMountable)(`every alert was seen${skipReason}${mountReason}`, () => {
  const names = new Set(readRules().flatMap(({ alert }) => alert ?? []))
  expect(seen).toEqual(names)
})

async function isToolServer(pid: number): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return line.split('\0')[1]?.endsWith('tool-server.ts') === true
}
