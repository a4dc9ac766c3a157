import type { Bus } from '@mcp-host/bus'
import { newSessionId } from '@mcp-host/contracts'
import { canMount, eventually, freeze, smallDisk, startBroker, testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { envelope, userMessage } from '../test/facts.ts'

const MEGABYTE = 1024 * 1024
const isMountable = await canMount()
const skipReason = isMountable ? '' : ' (skipped: it must mount a tmpfs)'

test.each([true, false])(
  'an orchestrator reads the sizes of the streams (accounts: %s)',
  async (hasAccounts) => {
    await using broker = await startBroker({ hasAccounts })
    const bus = await broker.connect('orchestrator')
    const names = async (): Promise<string[]> =>
      (await bus.storage.streams()).map(({ stream }) => stream)
    if (!hasAccounts) {
      expect(await names()).toEqual(['SESS', 'OBJ_BLOB'])
      await bus.audit.open({ maxAgeMs: 86_400_000 })
    }
    expect(await names()).toEqual(['SESS', 'OBJ_BLOB', 'AUDIT'])
    await bus.blobs.put(new Uint8Array(100_000))
    const stored = (await bus.storage.streams()).find(({ stream }) => stream === 'OBJ_BLOB')
    expect(stored?.bytes).toBeGreaterThan(100_000)
  },
)

test('the room on a disk is its free space without the part that is kept free', async () => {
  await using folder = await testFolder()
  await using broker = await startBroker({ folder: folder.path, minFreeBytes: 1e15 })
  const { storage } = await broker.connect()
  const disk = await storage.disk()
  expect(disk?.sizeBytes).toBeGreaterThan(MEGABYTE)
  expect(disk?.roomBytes).toBeLessThan(0)
  expect(disk?.roomBytes).toBeGreaterThan(-1e15)
})

test.each([
  [false, 4],
  // Some buckets of a host with accounts reserve their size.
  [true, 128],
])(
  'a nats-server that stores as much as it may refuses in words (accounts: %s)',
  async (hasAccounts, maxMegabytes) => {
    const maxBytes = maxMegabytes * MEGABYTE
    const limits = { maxBytes, minFreeBytes: maxBytes - 2 * MEGABYTE }
    await using broker = await startBroker({ hasAccounts, ...limits })
    const bus = await broker.connect('gateway')
    const session = newSessionId()
    const append = (): Promise<unknown> =>
      bus.sessions.append(session, userMessage('a', 'x'.repeat(100_000)), {
        envelope,
        messageId: crypto.randomUUID(),
        patienceMs: 100,
      })
    await bus.storage.checkRoom()
    expect((await bus.storage.disk())?.sizeBytes).toBe(maxBytes)
    const isRefused = (): Promise<boolean> =>
      bus.storage.checkRoom().then(
        () => false,
        (error: unknown) =>
          String(error).includes(`MB left of NATS_MAX_FILE_STORE (${maxMegabytes} MB), at least `),
      )
    for (let count = 0; count < 22; count++) await append()
    await eventually(isRefused)
    expect(bus.storage.fault()).toBeUndefined()
    if (hasAccounts) return
    const words =
      /the host cannot store: (nats-server has no room: .*max_file_store|nats-server has 0 MB left)/
    await eventually(() =>
      append().then(
        () => false,
        (error: unknown) => words.test(String(error)),
      ),
    )
  },
)

test
  .skipIf(!isMountable)
  .concurrent(
    `appends fail with a message about the full disk, and succeed once nats-server is restarted with room${skipReason}`,
    async () => {
      await using disk = await smallDisk(32)
      await using broker = await startBroker({ folder: disk.path, minFreeBytes: 2 * MEGABYTE })
      const bus = await broker.connect()
      const session = newSessionId()
      const append = (id: string, patienceMs: number): ReturnType<Bus['sessions']['append']> =>
        bus.sessions.append(session, userMessage(id, 'x'.repeat(20_000)), {
          envelope,
          messageId: id,
          patienceMs,
        })
      await append('before', 5_000)
      await bus.storage.checkRoom()

      await disk.fill()
      // The last block may have room for some appends.
      const refused = await eventually(
        async () => {
          const id = crypto.randomUUID()
          return append(id, 6_000).then(
            () => undefined,
            (error: unknown) => error,
          )
        },
        { limitMs: 20_000, what: 'a refused append' },
      )
      expect(refused).toMatchObject({ code: 'unavailable', retryable: true })
      const reason = `the disk at ${disk.path} has 0 MB free, at least 2 MB are needed`
      expect(String(refused)).toContain(`the host cannot store: ${reason}`)
      expect(bus.storage.fault()).toContain(reason)
      await expect(bus.storage.checkRoom()).rejects.toMatchObject({ code: 'unavailable' })
      expect(await bus.sessions.read(session, 0)).toHaveLength(1)

      await disk.free()
      const pending = append('after', 20_000)
      await broker.kill()
      await broker.start()
      await pending
      await eventually(() => bus.storage.fault() === undefined)
      await bus.storage.checkRoom()
    },
  )

test.skipIf(!isMountable)(
  `on a nearly full disk, turns are refused and appends are stored${skipReason}`,
  async () => {
    await using disk = await smallDisk(32)
    await using broker = await startBroker({ folder: disk.path, minFreeBytes: 100 * MEGABYTE })
    const bus = await broker.connect()
    await expect(bus.storage.checkRoom()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/the disk at .* has \d+ MB free, at least 100 MB are needed/),
    })
    await bus.sessions.append(newSessionId(), userMessage('a'), { envelope, messageId: 'a' })
    expect(bus.storage.fault()).toBeUndefined()
  },
)

test.concurrent('a storage fault ends once a probe is stored, without other writes', async () => {
  await using broker = await startBroker()
  const bus = await broker.connect()
  await freeze(broker.pid())
  const options = { envelope, messageId: 'a', patienceMs: 5_000 }
  await expect(bus.sessions.append(newSessionId(), userMessage('a'), options)).rejects.toThrow(
    'the host cannot store: nats-server does not confirm what is written to its stream SESS',
  )
  process.kill(broker.pid(), 'SIGCONT')
  await eventually(() => bus.storage.fault() === undefined)
})
