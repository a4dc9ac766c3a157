import type { Contract } from '@mcp-host/contracts'
import { CONTRACTS } from '@mcp-host/contracts'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { accessRules, SERVICE_NAMES, subjectPattern } from './access-rules.ts'

const { services, shared } = accessRules()

/** Whether one of the patterns covers a subject. */
function covers(patterns: readonly string[], subject: string): boolean {
  const tokens = subject.split('.')
  return patterns.some((pattern) => {
    const parts = pattern.split('.')
    const isSame = parts.every((part, index) => {
      if (part === '>') return tokens.length > index
      return part === '*' ? index < tokens.length : part === tokens[index]
    })
    return isSame && (parts.at(-1) === '>' || parts.length === tokens.length)
  })
}

describe('the permissions of the services', () => {
  test('only the senders of a message may publish it', () => {
    const wrong = Object.entries(CONTRACTS).flatMap(([message, { subject, from }]) =>
      SERVICE_NAMES.filter((name) => {
        const isAllowed = covers(services[name].publish, subjectPattern(subject))
        return isAllowed !== from.includes(name)
      }).map((name) => `${name}: ${message}`),
    )
    expect(wrong).toEqual([])
  })

  test('no service may manage streams and consumers, but orchestrators erase session logs', () => {
    const managing =
      /STREAM\.(CREATE|UPDATE|DELETE|PURGE|MSG\.DELETE|SNAPSHOT|RESTORE|LIST|NAMES)|CONSUMER\.(CREATE|DURABLE|DELETE|LIST|NAMES|PAUSE)|API\.>/
    const allowed = SERVICE_NAMES.flatMap((name) =>
      services[name].publish
        .filter((subject) => managing.test(subject))
        .map((subject) => `${name}: ${subject}`),
    )
    expect(allowed).toEqual(['orchestrator: STORE.API.STREAM.PURGE.SESS'])
  })

  test('what a service may send to another account, that account exports', () => {
    const exported = shared.filter(({ kind }) => kind === 'service').map(({ subject }) => subject)
    const needed = SERVICE_NAMES.flatMap((name) => services[name].publish).filter(
      (subject) => subject.startsWith('STORE.API.') || subject.startsWith('$KV.'),
    )
    expect(needed.filter((subject) => !exported.includes(subject))).toEqual([])
  })

  test('only gateways read API keys, secrets and tickets, and no service reads the audit log', () => {
    const readers = (stream: string): string[] =>
      SERVICE_NAMES.filter((name) =>
        services[name].publish.some((subject) => subject.split('.').includes(stream)),
      )
    for (const bucket of ['KV_APIKEYS', 'KV_SECRETS', 'KV_TICKETS']) {
      expect(readers(bucket)).toEqual(['gateway'])
    }
    const audit = SERVICE_NAMES.flatMap((name) =>
      services[name].publish.filter((subject) => /\.AUDIT\b/.test(subject)),
    )
    expect(audit).toEqual([
      'STORE.API.DIRECT.GET.AUDIT',
      'STORE.API.DIRECT.GET.AUDIT.audit.gateway.*',
      'STORE.API.DIRECT.GET.AUDIT.audit.orchestrator.*',
      // The orchestrator learns its size.
      'STORE.API.STREAM.INFO.AUDIT',
      'STORE.API.DIRECT.GET.AUDIT.audit.mcp-supervisor.*',
    ])
  })

  test('a new message gets its permissions from its contract', () => {
    const call: Contract = {
      kind: 'call',
      subject: 'new.{thing}.call',
      from: ['llm-worker'],
      to: ['orchestrator'],
      answeredBy: 'one',
      request: z.object({}),
      reply: z.object({}),
    }
    const event: Contract = {
      kind: 'event',
      subject: 'new.event',
      from: ['orchestrator'],
      to: ['gateway'],
      durability: 'live',
      payload: z.object({}),
    }
    const rules = accessRules({ call, event })
    expect(rules.services['llm-worker'].publish).toContain('new.*.call')
    expect(rules.services.orchestrator.subscribe).toContain('new.*.call')
    expect(rules.services.orchestrator.publish).toContain('_INBOX.llm-worker.APP.>')
    expect(rules.services.gateway.subscribe).toContain('new.event')
    expect(rules.shared.filter(({ subject }) => subject.startsWith('new.'))).toEqual([
      {
        subject: 'new.*.call',
        kind: 'stream',
        owner: 'LLM',
        users: ['APP'],
        hasSeveralReplies: false,
      },
      {
        subject: 'new.event',
        kind: 'stream',
        owner: 'APP',
        users: ['EDGE'],
        hasSeveralReplies: false,
      },
    ])
  })
})
