import { readdir, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { newEnvelope, newSessionId } from '@mcp-host/contracts'
import { runProgram, startBroker, testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'

test('npm run doctor names a damaged session, copies the data, and takes what is left as whole', async () => {
  await using folder = await testFolder()
  const DATA_DIR = folder.path
  const messages = join(DATA_DIR, 'nats', 'jetstream', '$G', 'streams', 'SESS', 'msgs')
  const [whole, cut] = [newSessionId(), newSessionId()]
  {
    await using broker = await startBroker({ folder: DATA_DIR })
    const bus = await broker.connect()
    const envelope = newEnvelope('local')
    for (const [session, entries] of [
      [whole, 1],
      [cut, 30],
    ] as const) {
      for (let count = 0; count < entries; count++) {
        const messageId = `m${count}`
        const fact = { id: messageId, text: 'hello' }
        await bus.sessions.append(session, { kind: 'input', fact }, { envelope, messageId })
      }
      await bus.directory.put({
        id: session,
        owner: 'local',
        title: `of ${entries}`,
        isTitled: false,
        createdAt: 1,
        updatedAt: 1,
        messages: entries,
        entries,
        usage: [],
        state: 'active',
      })
    }
    await bus[Symbol.asyncDispose]()
    await broker.kill()
  }
  const [block = ''] = (await readdir(messages)).filter((file) => file.endsWith('.blk'))
  await truncate(join(messages, block), Math.floor((await stat(join(messages, block))).size / 2))

  const doctor = async (...args: string[]) => {
    await using program = await runProgram(['doctor', ...args], { DATA_DIR })
    return { code: (await program.ended()).code, output: program.output() }
  }
  const found = await doctor()
  expect(found.output).toMatch(new RegExp(`damaged: session ${cut} "of 30" has \\d+ of 30 entries`))
  expect(found.output).not.toContain(whole)
  expect(found.output).toMatch(/lost: the end of the log from \d+ on/)
  expect(found.code).toBe(1)

  const backup = join(folder.path, 'copy')
  const repaired = await doctor('--repair', '--backup', backup)
  expect(repaired).toMatchObject({ code: 0, output: expect.stringContaining(`to ${backup}`) })
  expect(await readdir(backup)).toContain('jetstream')
  expect(await doctor()).toMatchObject({
    code: 0,
    output: expect.stringContaining('no session misses'),
  })
  expect(await doctor('--wrong')).toMatchObject({ code: 2 })
})
