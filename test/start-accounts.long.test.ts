// `npm start` with an account at nats-server for each service.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { StartStage } from './start-stage.ts'

const stage = StartStage.forEachTest()

test('npm start serves a session with accounts that it began without, and its commands work', async () => {
  const { env, cleanup } = stage
  const run = async (args: string[], settings: Record<string, string> = {}): Promise<string> => {
    const program = cleanup.use(await runProgram(args, settings))
    expect(await program.ended(), program.output()).toEqual({ code: 0, signal: null })
    return program.output()
  }
  const titles: unknown[] = []
  for (const [accounts, word] of [
    ['off', 'before'],
    ['on', 'after'],
  ] as const) {
    const host = await runProgram(['start'], { ...env, BUS_ACCOUNTS: accounts })
    await host.says('Ctrl-C stops everything')
    expect(await run(['chat', `echo ${word}`], env)).toContain(`Echo: ${word}`)
    expect(await run(['servers'], env)).toContain('filesystem')
    expect(await run(['keys', 'create', accounts], env)).toContain('mh_')
    expect(await run(['keys', 'list'], env)).toContain('off')
    const page = await fetch(`http://127.0.0.1:${env['PORT']}/api/chat/sessions`)
    const { sessions } = (await page.json()) as { sessions: { title: string }[] }
    titles.push(sessions.map(({ title }) => title).toSorted())
    host.process.signal('SIGINT')
    await host.ended()
    await host[Symbol.asyncDispose]()
  }
  expect(titles).toEqual([['echo before'], ['echo after', 'echo before']])
  const files = await readdir(join(env['DATA_DIR'] ?? '', 'bus'))
  expect(files).toContain('gateway.nk')
  // On the data of the stopped host.
  expect(await run(['doctor'], { ...env, BUS_ACCOUNTS: 'on' })).toContain(
    'no session misses entries',
  )
})
