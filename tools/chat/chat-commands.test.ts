import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Session } from '@mcp-host/client'
import { HostError } from '@mcp-host/client'
import { ChatCommands } from './chat-commands.ts'

const session: Session = {
  id: 's1',
  owner: 'local',
  title: 'Trip\u001B[2J',
  isTitled: true,
  messages: 2,
  createdAt: 0,
  updatedAt: 0,
  usage: [],
  state: 'active',
}

let folder: string
let written: string
let asked: unknown[]
/** Whether the host knows the session. */
let isKnown: boolean
let commands: ChatCommands
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'chat-commands-'))
  written = ''
  asked = []
  isKnown = true
  commands = new ChatCommands({
    api: {
      models: async () => ({
        default: { provider: 'demo', model: 'demo-1' },
        providers: [
          { provider: 'demo', models: [{ id: 'demo-1' }] },
          { provider: 'xai', error: 'it answered 401', models: [] },
        ],
      }),
      status: async () => ({
        servers: [
          { server: 'files', state: 'ready', tools: 3 },
          { server: 'pay', state: 'unavailable', tools: 0, error: 'it ended\u001B[2J' },
          { server: 'web', state: 'starting', phase: 'installing' },
        ],
      }),
      sessions: async () => ({ sessions: [session] }),
      async updateSession(id, { model }) {
        if (!isKnown) throw new HostError('not-found', 'there is no such session')
        if (model === 'parrot') throw new HostError('invalid', 'model: there is no provider')
        asked.push(['model', id, model])
        return session
      },
      async storeFile(id, name, { type }) {
        asked.push(['upload', id, name, type])
        return `key of ${name}`
      },
    },
    write: (text) => void (written += text),
    sessionId: () => 's1',
    lastMessage: () => (isKnown ? 'm1' : undefined),
    regenerate: (messageId, extras) => void asked.push(['retry', messageId, extras]),
    leave: () => void asked.push('leave'),
    folder,
  })
})
afterEach(() => rmSync(folder, { recursive: true }))

test.each(['hello', '/home/me/notes is a folder', ' /help', 'a /help'])(
  'a line that is no command is left to the model: %s',
  async (line) => {
    expect(await commands.run(line)).toBe('no-command')
    expect(written).toBe('')
  },
)

test('an unknown command names the nearest one', async () => {
  expect(await commands.run('/modle x')).toBe('done')
  expect(written).toContain('There is no command /modle; did you mean /model?')
  expect(await commands.run('/zzzzzzz')).toBe('done')
  expect(written).toContain('There is no command /zzzzzzz; /help lists them')
})

test('/help lists every command', async () => {
  await commands.run('/help')
  for (const name of ['model', 'retry', 'file', 'sessions', 'quit']) {
    expect(written).toContain(`/${name}`)
  }
})

test('/model lists the models, and gives the session another one or says why not', async () => {
  await commands.run('/model')
  expect(written).toBe('default: demo/demo-1\n  demo/demo-1\n  xai: it answered 401\n')
  await commands.run('/model xai/grok')
  await commands.run('/model default')
  await commands.run('/model parrot')
  expect(asked).toEqual([
    ['model', 's1', 'xai/grok'],
    ['model', 's1', null],
  ])
  expect(written).toContain('xai/grok answers from now on.\n')
  expect(written).toContain('model: there is no provider')
  expect(commands.takeExtras()).toEqual({})
})

test('a model that is chosen before the first message goes with the messages', async () => {
  isKnown = false
  await commands.run('/model xai/grok')
  expect(commands.takeExtras()).toEqual({ model: 'xai/grok' })
  expect(commands.takeExtras()).toEqual({ model: 'xai/grok' })
})

test('/retry answers the last message again, by the named model', async () => {
  expect(await commands.run('/retry')).toBe('asked')
  expect(await commands.run('/retry xai')).toBe('asked')
  expect(asked).toEqual([
    ['retry', 'm1', {}],
    ['retry', 'm1', { model: 'xai' }],
  ])
  isKnown = false
  expect(await commands.run('/retry')).toBe('done')
  expect(written).toContain('There is no message to answer again.')
})

test('/file uploads a file, which goes with the next message only', async () => {
  writeFileSync(join(folder, 'my map.png'), 'x')
  expect(await commands.run('/file "my map.png"')).toBe('done')
  expect(asked).toEqual([['upload', 's1', 'my map.png', 'image/png']])
  expect(commands.takeExtras()).toEqual({ attachments: ['key of my map.png'] })
  expect(commands.takeExtras()).toEqual({})
  await commands.run('/file nowhere')
  expect(written).toContain(`${join(folder, 'nowhere')} is no file that can be read.`)
})

test('an empty line sends a file alone, and nothing without one', async () => {
  expect(await commands.run(' ')).toBe('done')
  writeFileSync(join(folder, 'map.png'), 'x')
  await commands.run('/file map.png')
  expect(await commands.run('')).toBe('no-command')
  expect(commands.takeExtras()).toEqual({ attachments: ['key of map.png'] })
  expect(await commands.run('')).toBe('done')
})

test('/sessions lists them without what would steer the terminal', async () => {
  await commands.run('/sessions')
  expect(written).toMatch(/^\* s1 {2}Trip \[2J {2}\(.*, 2 messages\)\n$/)
})

test('/quit leaves', async () => {
  await commands.run('/quit')
  expect(asked).toEqual(['leave'])
})

test('/servers lists the MCP servers with their states, tools and failures', async () => {
  expect(await commands.run('/servers')).toBe('done')
  expect(written).toBe(
    '  files  ready: 3 tools\n  pay  unavailable: it ended [2J\n  web  installing\n',
  )
})
