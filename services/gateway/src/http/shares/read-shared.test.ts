import type { SessionId } from '@mcp-host/contracts'
import { newEnvelope } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { callBlock, Story } from '../../projection/__fixtures__/story.ts'
import type { FakeGateway } from '../__fixtures__/start-fake-gateway.ts'
import { startFakeGateway } from '../__fixtures__/start-fake-gateway.ts'

const SESSION = 'sessionsessionse'.repeat(2) as SessionId
const sharesPath = `/api/chat/session/${SESSION}/shares`

let gateway: FakeGateway
/** The id of the link, its address, and the address of the file behind it. */
let id = ''
let shared = ''
let file = ''
beforeEach(async () => {
  gateway = await startFakeGateway()
  gateway.bus.store(SESSION, { kind: 'input', fact: { id: 'm1', text: 'hello' } })
  // More than the buffers of a connection hold.
  const { key } = await gateway.bus.blobs.put(new Uint8Array(64_000_000), { session: SESSION })
  const headers = { 'content-type': 'application/json' }
  const made = await fetch(gateway.url + sharesPath, { method: 'POST', headers, body: '{}' })
  const share = (await made.json()) as { readonly id: string; readonly url: string }
  id = share.id
  shared = gateway.url + new URL(share.url).pathname
  file = `${shared}/file/${key}`
})
afterEach(() => gateway[Symbol.asyncDispose]())

test('a share link shows no file of a deleted session', async () => {
  expect((await fetch(file, { method: 'HEAD' })).status).toBe(200)
  gateway.bus.isDeleted = true
  const { status } = await fetch(file, { method: 'HEAD' })
  expect(status).toBe(404)
})

test('one reader of share links gets few files at the same time, and leaves those of users alone', async () => {
  const key = file.slice(file.lastIndexOf('/') + 1)
  const own = `${gateway.url}/api/chat/session/${SESSION}/file/${key}`
  const sent = async (url: string): Promise<number> => {
    const answers = await Promise.all(Array.from({ length: 17 }, () => fetch(url)))
    return answers.filter(({ status }) => status === 200).length
  }
  expect(await sent(file)).toBe(16)
  expect(await sent(own)).toBe(17)
})

test('a download ends with its share link', async () => {
  const { body } = await fetch(file)
  const reader = body?.getReader()
  await reader?.read()
  await fetch(`${gateway.url + sharesPath}/${id}`, { method: 'DELETE' })
  let bytes = 0
  const rest = async (): Promise<void> => {
    for (let next = await reader?.read(); next?.value; next = await reader?.read()) {
      bytes += next.value.length
    }
  }
  await expect(rest()).rejects.toThrow('terminated')
  expect(bytes).toBeLessThan(64_000_000)
})

test('a reader who follows a share sees how a call was decided, and not the user who decided', async () => {
  const story = new Story()
  const { id: call } = callBlock(story.claim(story.input('pay')))
  story.askApproval(call, 'a1')
  const answer = { ...story.answer('a1'), envelope: newEnvelope('user:bob') }
  gateway.bus.entries.splice(0, Infinity, ...story.entries.slice(0, -1), answer)
  const { body } = await fetch(`${shared}/events`)
  let seen = ''
  for await (const bytes of body ?? []) {
    seen += Buffer.from(bytes).toString()
    if (seen.includes('the question was answered')) break
  }
  expect(seen).toContain('"action":"accept"')
  expect(seen).not.toContain('user:bob')
})
