import type { Bus } from '@mcp-host/bus'
import { newSessionId } from '@mcp-host/contracts'
import { canMount, eventually, smallDisk, startBroker } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { envelope, said } from '../test/facts.ts'

const MEGABYTE = 1024 * 1024
const isAble = await canMount()
const unless = isAble ? '' : ' (does not run here: it has to mount a tmpfs)'

test
  .skipIf(!isAble)
  .concurrent(
    `appends fail with words about the full disk, and succeed once nats-server is restarted with room${unless}`,
    async () => {
      await using disk = await smallDisk(32)
      await using broker = await startBroker({ folder: disk.path, minFreeBytes: 2 * MEGABYTE })
      const bus = await broker.connect()
      const session = newSessionId()
      const append = (id: string, patienceMs: number): ReturnType<Bus['sessions']['append']> =>
        bus.sessions.append(session, said(id, 'x'.repeat(20_000)), {
          envelope,
          messageId: id,
          patienceMs,
        })
      await append('before', 5_000)
      await bus.storage.checkRoom()

      await disk.fill()
      // The last block may have room for a little.
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
      const words = `the disk at ${disk.path} has 0 MB free, at least 2 MB are needed`
      expect(String(refused)).toContain(`the host cannot store: ${words}`)
      expect(bus.storage.fault()).toContain(words)
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

test.skipIf(!isAble)(
  `nothing new may begin on a disk that is nearly full, while what runs is stored${unless}`,
  async () => {
    await using disk = await smallDisk(32)
    await using broker = await startBroker({ folder: disk.path, minFreeBytes: 100 * MEGABYTE })
    const bus = await broker.connect()
    await expect(bus.storage.checkRoom()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/the disk at .* has \d+ MB free, at least 100 MB are needed/),
    })
    await bus.sessions.append(newSessionId(), said('a'), { envelope, messageId: 'a' })
    expect(bus.storage.fault()).toBeUndefined()
  },
)

test.concurrent('a fault of the log is over once a probe is stored, though nobody else writes', async () => {
  await using broker = await startBroker()
  const bus = await broker.connect()
  process.kill(broker.pid(), 'SIGSTOP')
  const options = { envelope, messageId: 'a', patienceMs: 5_000 }
  await expect(bus.sessions.append(newSessionId(), said('a'), options)).rejects.toThrow(
    'the host cannot store: nats-server does not confirm what is written to its stream SESS',
  )
  process.kill(broker.pid(), 'SIGCONT')
  await eventually(() => bus.storage.fault() === undefined)
})
