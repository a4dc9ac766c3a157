// What a service that is taken over cannot do. Each attempt is made with the service's own credential, at a nats-server
// with the generated accounts.
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { headers } from '@nats-io/transport-node'
import type { Contract, ServiceParticipant, SessionId } from '@mcp-host/contracts'
import {
  ACCOUNTS,
  AUDIT_WRITERS,
  BUCKETS,
  CONTRACTS,
  factSubject,
  LOG_FACTS,
  newSessionId,
} from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ServiceConnection } from '../../test/service-connection.ts'
import { envelope, userMessage } from '../../test/facts.ts'
import { silentLogger } from '../../test/silent-logger.ts'
import { envelopeHeaders } from '../codec.ts'
import { connectNats } from '../connect.ts'
import { connectBus } from '../nats-bus.ts'
import { accessRules, SERVICE_NAMES, subjectPattern } from './access-rules.ts'

/** Prefixes of the broker's requests: its own, and the one under which services reach the account of the streams. */
const APIS = ['$JS.API', 'STORE.API']
const STREAMS = [
  'SESS',
  'AUDIT',
  'RATES',
  'QUOTAS',
  'OBJ_BLOB',
  ...Object.keys(BUCKETS).map((bucket) => `KV_${bucket}`),
]
const rules = accessRules().services

let broker: Broker
let operator: NatsConnection
let session: SessionId
/** Another connection of each service, which hears all that the service may hear. */
const victims = new Map<ServiceParticipant, ServiceConnection>()

beforeAll(async () => {
  broker = await startBroker({ hasAccounts: true })
  operator = await connectNats(broker.url, 'operator', { seedFile: broker.seedFile('tools') })
  // Closed before anything is tried: it notes the end of the log by itself.
  await using bus = await connectBus({
    url: broker.url,
    name: 'operator',
    logger: silentLogger,
    credential: { seedFile: broker.seedFile('tools') },
  })
  session = newSessionId()
  await bus.sessions.append(session, userMessage('a'), { envelope, messageId: 'a' })
  await bus.audit.append('gateway-victim', ['{"secret":1}'])
  for (const bucket of Object.keys(BUCKETS)) {
    await operator.request(`$KV.${bucket}.key`, '{"secret":1}')
  }
  for (const service of SERVICE_NAMES) {
    const victim = await ServiceConnection.open(broker, service)
    for (const subject of rules[service].subscribe) victim.hear(subject)
    await victim.flush()
    victims.set(service, victim)
  }
})
afterAll(async () => {
  for (const victim of victims.values()) await victim[Symbol.asyncDispose]()
  await operator.close()
  await broker[Symbol.asyncDispose]()
})

/** All that is stored, and how: changes with every message, setting and consumer. */
async function storedState(): Promise<unknown> {
  const { streams, consumers } = await jetstreamManager(operator)
  const all = await Array.fromAsync(await streams.list().next(), ({ config, state }) => {
    const { messages, last_seq, consumer_count } = state
    return { config, messages, last_seq, consumer_count }
  })
  const { config, num_ack_pending, delivered } = await consumers.info('SESS', 'orch')
  return { all, consumer: { config, num_ack_pending, delivered } }
}

/** Runs attempts and returns what they have changed or reached. */
async function effectOf(
  service: ServiceParticipant,
  attempts: (forger: ServiceConnection) => void,
): Promise<{ before: unknown; after: unknown; reached: string[] }> {
  await using forger = await ServiceConnection.open(broker, service)
  for (const victim of victims.values()) victim.heard.length = 0
  const before = await storedState()
  attempts(forger)
  await forger.flush()
  for (const victim of victims.values()) await victim.flush()
  const after = await storedState()
  const reached = Array.from(victims, ([name, { heard }]) =>
    heard.map((each) => `${name}: ${each}`),
  )
  return { before, after, reached: reached.flat() }
}

const example = (contract: Contract): string => contract.subject.replaceAll(/\{\w+\}/g, 'x')

const logSubjects = (service: ServiceParticipant, isOwn: boolean): string[] =>
  (['input', 'control', 'turn', 'generation', 'tool'] as const)
    .filter((kind) => LOG_FACTS[kind].from.includes(service) === isOwn)
    .map((kind) => factSubject(session, kind))

const foreignMessages = (service: ServiceParticipant): string[] =>
  Object.values(CONTRACTS).flatMap((contract) =>
    contract.from.includes(service) ? [] : [example(contract)],
  )

const buckets = Object.entries(BUCKETS).map(([bucket, access]) => ({
  bucket,
  readers: access.readers as readonly string[],
  writers: Object.keys(access.writers),
}))

/** Subjects that change something when the broker, or a service that believes it, gets them. */
const foreignSubjects = (service: ServiceParticipant): string[] => [
  ...logSubjects(service, false),
  ...foreignMessages(service),
  ...buckets.flatMap(({ bucket, writers }) =>
    writers.includes(service) ? [] : [`$KV.${bucket}.key`],
  ),
  ...AUDIT_WRITERS.flatMap((writer) => (writer === service ? [] : [`audit.${writer}.x`])),
  'audit.x',
  '$O.OTHER.M.x',
]

describe.each(SERVICE_NAMES)('%s', (service) => {
  test(`${service} cannot publish facts, messages, records or audit entries of others`, async () => {
    const { before, after, reached } = await effectOf(service, (forger) => {
      for (const subject of foreignSubjects(service)) {
        forger.publish(subject, '{}', { headers: envelopeHeaders(envelope) })
      }
    })
    expect(reached).toEqual([])
    expect(after).toEqual(before)
  })

  test(`${service} cannot have the broker send a stored message to subjects of others`, async () => {
    const query = JSON.stringify({ seq: 1 })
    const { before, after, reached } = await effectOf(service, (forger) => {
      for (const reply of foreignSubjects(service)) {
        for (const api of APIS) {
          for (const read of ['DIRECT.GET', 'STREAM.MSG.GET', 'STREAM.INFO']) {
            for (const stream of STREAMS)
              forger.publish(`${api}.${read}.${stream}`, query, { reply })
          }
        }
        forger.publish('$SYS.REQ.USER.INFO', '', { reply })
      }
    })
    // Within the account of a service the broker's replies reach its own processes, which do not take them for events.
    expect(reached.filter((each) => !each.startsWith(`${service}: `))).toEqual([])
    expect(after).toEqual(before)
  })

  test(`${service} cannot create consumers, whatever their deliver subject`, async () => {
    const { before, after, reached } = await effectOf(service, (forger) => {
      for (const deliver of foreignSubjects(service)) {
        const config = { deliver_subject: deliver, deliver_policy: 'all', ack_policy: 'none' }
        for (const api of APIS) {
          for (const stream of STREAMS) {
            const create = JSON.stringify({ stream_name: stream, config: { ...config, name: 'f' } })
            forger.publish(`${api}.CONSUMER.CREATE.${stream}`, create)
            forger.publish(`${api}.CONSUMER.CREATE.${stream}.f`, create)
            forger.publish(`${api}.CONSUMER.DURABLE.CREATE.${stream}.f`, create)
          }
        }
      }
    })
    expect(reached).toEqual([])
    expect(after).toEqual(before)
  })

  test(`${service} cannot create, change, empty or delete streams and consumers`, async () => {
    const { streams } = await jetstreamManager(operator)
    const configs = await Promise.all(
      STREAMS.map(async (stream) => (await streams.info(stream)).config),
    )
    const { before, after } = await effectOf(service, (forger) => {
      for (const api of APIS) {
        for (const config of configs) {
          const stream = config.name
          const changed = JSON.stringify({ ...config, max_age: 1_000_000_000, max_msgs: 1 })
          const copy = {
            name: 'COPY',
            sources: [{ name: stream }],
            republish: { src: '>', dest: 's.1.x.ev' },
          }
          forger.publish(`${api}.STREAM.CREATE.COPY`, JSON.stringify(copy))
          forger.publish(`${api}.STREAM.UPDATE.${stream}`, changed)
          forger.publish(`${api}.STREAM.DELETE.${stream}`)
          forger.publish(`${api}.STREAM.MSG.DELETE.${stream}`, '{"seq":1}')
          forger.publish(`${api}.STREAM.LEADER.STEPDOWN.${stream}`)
          forger.publish(`${api}.STREAM.SNAPSHOT.${stream}`, '{"deliver_subject":"s.1.x.ev"}')
          forger.publish(`${api}.CONSUMER.DELETE.${stream}.orch`)
          forger.publish(
            `${api}.CONSUMER.PAUSE.${stream}.orch`,
            '{"pause_until":"2100-01-01T00:00:00Z"}',
          )
          // Orchestrators erase the logs of deleted sessions.
          const erases = service === 'orchestrator' && stream === 'SESS' && api === 'STORE.API'
          if (!erases) forger.publish(`${api}.STREAM.PURGE.${stream}`, '')
        }
        forger.publish(`${api}.ACCOUNT.PURGE.STORE`)
        forger.publish(`${api}.META.LEADER.STEPDOWN`)
      }
    })
    expect(after).toEqual(before)
  })

  test.each(buckets.filter(({ readers }) => !readers.includes(service)))(
    `${service} cannot read $bucket`,
    async ({ bucket }) => {
      await using forger = await ServiceConnection.open(broker, service)
      forger.hear(`kv.${bucket}.>`)
      forger.hear(`$KV.${bucket}.>`)
      const answers = await Promise.all(
        APIS.flatMap((api) => [
          forger.ask(`${api}.DIRECT.GET.KV_${bucket}`, '{"seq":1}'),
          forger.ask(`${api}.DIRECT.GET.KV_${bucket}.$KV.${bucket}.key`),
          forger.ask(`${api}.STREAM.MSG.GET.KV_${bucket}`, '{"seq":1}'),
          forger.ask(`${api}.STREAM.INFO.KV_${bucket}`, '{"subjects_filter":">"}'),
        ]),
      )
      await operator.request(`$KV.${bucket}.key`, '{"secret":2}')
      await forger.flush()
      expect(answers.map((answer) => answer?.string() ?? '').filter(holdsData)).toEqual([])
      expect(forger.heard).toEqual([])
    },
  )

  // Gateways search it for auditors.
  test.skipIf(service === 'gateway')(
    `${service} cannot read the audit log, except its own last entries`,
    async () => {
      await using forger = await ServiceConnection.open(broker, service)
      forger.hear('audit.>')
      const answers = await Promise.all(
        APIS.flatMap((api) => [
          forger.ask(`${api}.DIRECT.GET.AUDIT`, '{"seq":1}'),
          forger.ask(`${api}.STREAM.MSG.GET.AUDIT`, '{"seq":1}'),
          // A request for an own entry, with another one in its body.
          forger.ask(`${api}.DIRECT.GET.AUDIT.audit.${service}.none`, '{"seq":1}'),
          forger.ask(`${api}.DIRECT.GET.AUDIT.audit.*.victim`),
          forger.ask(`${api}.DIRECT.GET.AUDIT.audit.gateway.victim`),
        ]),
      )
      expect(answers.map((answer) => answer?.string() ?? '').filter(holdsData)).toEqual([])
      expect(forger.heard).toEqual([])
    },
  )

  test(`${service} hears no messages for others, nor replies to them`, async () => {
    await using forger = await ServiceConnection.open(broker, service)
    const foreign = Object.values(CONTRACTS).filter(
      (contract) => contract.kind !== 'event' || contract.durability === 'live',
    )
    for (const contract of foreign) {
      if (!contract.to.includes(service)) forger.hear(subjectPattern(contract.subject))
    }
    for (const subject of ['>', '_INBOX.>', '_R_.>', '$SYS.>', '$JS.>', 's.>', 'live.>']) {
      forger.hear(subject)
    }
    for (const other of SERVICE_NAMES) if (other !== service) forger.hear(`_INBOX.${other}.>`)
    await forger.flush()
    for (const contract of foreign) {
      if (contract.to.includes(service)) continue
      for (const sender of contract.from) {
        if (sender !== 'tools') victims.get(sender)?.publish(example(contract), '{}')
      }
    }
    for (const victim of victims.values()) await victim.flush()
    expect(forger.heard).toEqual([])
  })

  test(`${service} cannot answer what other accounts were asked, nor acknowledge inputs of orchestrators`, async () => {
    const { before, after, reached } = await effectOf(service, (forger) => {
      for (const asker of SERVICE_NAMES) {
        for (const account of Object.values(ACCOUNTS)) {
          if (account !== ACCOUNTS[service]) forger.publish(`_INBOX.${asker}.${account}.x.y.1-1`)
        }
      }
      if (service !== 'orchestrator') forger.publish('$JS.ACK.SESS.orch.1.1.1.1.0', '+TERM')
    })
    expect(reached).toEqual([])
    expect(after).toEqual(before)
  })
})

test('what a service is for, it may do: each message of its own reaches those that it is for', async () => {
  for (const victim of victims.values()) victim.heard.length = 0
  const sent: string[] = []
  for (const contract of Object.values(CONTRACTS)) {
    if (contract.kind === 'event' && contract.durability === 'log') continue
    for (const from of contract.from) {
      if (from === 'tools') continue
      victims.get(from)?.publish(example(contract))
      sent.push(...contract.to.map((to) => `${to}: ${example(contract)}`))
    }
  }
  for (const victim of victims.values()) await victim.flush()
  const heard = (): Set<string> =>
    new Set(
      Array.from(victims, ([to, victim]) => victim.heard.map((each) => `${to}: ${each}`)).flat(),
    )
  await eventually(() => sent.every((each) => heard().has(each)), { what: 'each message' })
})

test('a message of a session with headers of the broker in it is stored as what it is', async () => {
  await using gateway = await ServiceConnection.open(broker, 'gateway')
  const forged = headers()
  forged.set('Nats-Subject', factSubject(session, 'turn'))
  gateway.publish(factSubject(session, 'input'), '{}', { headers: forged })
  await gateway.flush()
  const { streams } = await jetstreamManager(operator)
  const last = await streams.getMessage('SESS', { last_by_subj: factSubject(session, 'turn') })
  expect(last).toBeNull()
})

/** Whether an answer of the broker has more than an error. */
function holdsData(text: string): boolean {
  return text !== '' && !text.includes('"error"')
}
