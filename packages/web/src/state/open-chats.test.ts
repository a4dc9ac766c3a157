import { afterEach, beforeEach, expect, test, vi } from 'vitest'

/** Storage of a browser, whose keys are its properties. */
class FakeStorage {
  [key: string]: unknown
  get length(): number {
    return Object.keys(this).length
  }
  key(index: number): string | undefined {
    return Object.keys(this)[index]
  }
  getItem(key: string): string | null {
    return Object.hasOwn(this, key) ? String(this[key]) : null
  }
  setItem(key: string, value: string): void {
    this[key] = value
  }
  removeItem(key: string): void {
    // oxlint-disable-next-line typescript/no-dynamic-delete -- as a storage has it
    delete this[key]
  }
}

/** A connection to a host that knows the ids in `hosted` alone. */
class FakeSocket extends EventTarget {
  readonly id: string
  constructor(url: URL) {
    super()
    this.id = url.searchParams.get('sessionId') ?? ''
    sockets.push(this)
  }
  /** Answers as the host does. */
  open(): void {
    if (hosted.has(this.id)) this.tell('connection', { state: 'connected', sessionId: this.id })
    else this.dispatchEvent(Object.assign(new Event('close'), { code: 1008, reason: 'unknown' }))
  }
  tell(type: string, payload: object): void {
    const data = JSON.stringify({ type, payload })
    this.dispatchEvent(Object.assign(new Event('message'), { data }))
  }
  send(data: string): void {
    sent.push([this.id, (JSON.parse(data) as { payload?: { text?: string } }).payload?.text])
  }
  close(): void {
    this.dispatchEvent(new Event('closed'))
  }
}

const OWN = 'made-up-by-the-page'
let hosted: Set<string>
let sockets: FakeSocket[]
let sent: [string, string | undefined][]
let user: string
let made: number
/** Paths that the page has asked for. */
let asked: string[]

beforeEach(() => {
  vi.resetModules()
  hosted = new Set()
  sockets = []
  sent = []
  user = 'ann'
  made = 0
  asked = []
  const location = { origin: 'http://host', hash: '', pathname: '/' }
  const replaceState = (_: unknown, __: string, hash: string): void => void (location.hash = hash)
  const fetched = async (url: URL | string): Promise<Response> => {
    const { pathname } = new URL(url)
    asked.push(pathname)
    return Response.json(pathname === '/api/me' ? { id: user, roles: [] } : { sessionId: create() })
  }
  const globals = {
    location,
    history: { replaceState, pushState: replaceState },
    localStorage: new FakeStorage(),
    sessionStorage: new FakeStorage(),
    document: Object.assign(new EventTarget(), { hidden: true }),
    addEventListener: () => undefined,
    WebSocket: FakeSocket,
    fetch: fetched,
  }
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value)
  sessionStorage.setItem('new-chat', OWN)
  sessionStorage.setItem('drafts-of', 'ann')
})
afterEach(() => vi.unstubAllGlobals())

/** A session of the host. */
function create(): string {
  const id = `made-by-the-host-${++made}`
  hosted.add(id)
  return id
}

const load = async () => {
  const [chats, routes, drafts] = await Promise.all([
    import('./open-chats.ts'),
    import('./route.ts'),
    import('./draft.ts'),
  ])
  return { ...chats, ...routes, ...drafts }
}

/** The next connection of the page, answered by the host. */
async function connection(id: string): Promise<void> {
  const socket = await vi.waitFor(() => {
    const found = sockets.find((each) => each.id === id)
    if (found === undefined) throw new Error(`no connection to ${id}`)
    return found
  })
  sockets = sockets.filter((each) => each !== socket)
  socket.open()
}

test('the draft of a chat that the host does not know moves to a chat of the host, once', async () => {
  const page = await load()
  page.draftOf(OWN).text.set('half a thought')
  page.openChat(OWN, true)
  await connection(OWN)
  await vi.waitFor(() =>
    expect(page.route.get()).toEqual({
      page: 'chat',
      session: 'made-by-the-host-1',
      isNew: true,
      insteadOf: OWN,
    }),
  )
  expect(page.draftOf('made-by-the-host-1').text.get()).toBe('half a thought')
  expect(JSON.stringify(sessionStorage)).not.toContain(OWN)
  hosted.clear()
  await connection('made-by-the-host-1')
  const moved = page.openChat('made-by-the-host-1', true)
  await vi.waitFor(() =>
    expect(moved.connection.get()).toMatchObject({ state: 'ended', why: 'refused' }),
  )
  expect([made, sockets]).toEqual([1, []])
})

test('messages that wait in such a chat are sent in the one of the host, in their order', async () => {
  const page = await load()
  const chat = page.openChat(OWN, true)
  for (const text of ['first', 'second']) chat.say(text)
  page.keepSession(OWN)
  await connection(OWN)
  await connection('made-by-the-host-1')
  expect(sent).toEqual([
    ['made-by-the-host-1', 'first'],
    ['made-by-the-host-1', 'second'],
  ])
  expect(location.hash).toBe('#/chat/made-by-the-host-1')
  expect(JSON.stringify(localStorage)).not.toContain(OWN)
  const { thread } = page.openChat('made-by-the-host-1', false)
  expect(thread.turns.get().map((turn) => turn.get().text)).toEqual(['first', 'second'])
})

test('the next page moves them too, for the user who wrote them', async () => {
  const before = await load()
  before.openChat(OWN, true).say('left behind')
  before.keepSession(OWN)
  await vi.waitFor(() => expect(sockets).toHaveLength(1))
  location.hash = ''
  sessionStorage.removeItem('drafts-of')
  vi.resetModules()
  sockets = []
  user = 'bob'
  const ofBob = await load()
  ofBob.sendLeftMessages()
  await connection(OWN)
  const refused = ofBob.openChat(OWN, false)
  await vi.waitFor(() => expect(refused.isUnknown).toBe(true))
  vi.resetModules()
  user = 'ann'
  expect([made, sent]).toEqual([0, []])
  const ofAnn = await load()
  ofAnn.sendLeftMessages()
  await connection(OWN)
  await connection('made-by-the-host-1')
  expect(sent).toEqual([['made-by-the-host-1', 'left behind']])
})

test('a draft of another user of the tab is not moved while the page is left', async () => {
  const page = await load()
  const { claimDrafts } = await import('./kept-draft.ts')
  page.draftOf(OWN).text.set('a secret of ann')
  const chat = page.openChat(OWN, true)
  user = 'bob'
  expect(claimDrafts('bob')).toBe(true)
  await connection(OWN)
  await vi.waitFor(() => expect(chat.isUnknown).toBe(true))
  await vi.waitFor(() => expect(asked.filter((path) => path === '/api/me')).toHaveLength(2))
  await new Promise(setImmediate)
  expect([made, JSON.stringify(sessionStorage)]).toEqual([0, '{"drafts-of":"bob"}'])
})

test('a chat with a message that the host has stored stays where it is when it is refused', async () => {
  hosted.add(OWN)
  const page = await load()
  const chat = page.openChat(OWN, true)
  chat.say('stored')
  page.keepSession(OWN)
  const socket = await vi.waitFor(() => sockets[0] ?? Promise.reject(new Error('not yet')))
  socket.open()
  socket.tell('user', { messageId: 'm', text: 'stored', at: 1 })
  hosted.clear()
  socket.open()
  await vi.waitFor(() =>
    expect(chat.connection.get()).toMatchObject({ state: 'ended', why: 'refused' }),
  )
  expect([chat.isUnknown, made, page.route.get()]).toMatchObject([false, 0, { session: OWN }])
})
