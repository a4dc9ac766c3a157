import type { SessionId } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { FakeGateway } from '../__fixtures__/start-fake-gateway.ts'
import { startFakeGateway } from '../__fixtures__/start-fake-gateway.ts'

const SESSION = 'sessionsessionse'.repeat(2) as SessionId
const sharesPath = `/api/chat/session/${SESSION}/shares`

let gateway: FakeGateway
/** The id of the link, and the address of the file behind it. */
let id = ''
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
  file = `${gateway.url + new URL(share.url).pathname}/file/${key}`
})
afterEach(() => gateway[Symbol.asyncDispose]())

test('a share link shows no file of a deleted session', async () => {
  expect((await fetch(file, { method: 'HEAD' })).status).toBe(200)
  gateway.bus.isDeleted = true
  const { status } = await fetch(file, { method: 'HEAD' })
  expect(status).toBe(404)
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
