// Servers in the process of the application.
import { McpServer } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { z } from 'zod'

import { eventually } from '@mcp-host/mcp-testkit'
import { HostStage } from '../test/host-stage.ts'
import type { InProcessServerConfig } from './index.ts'

type Serve = InProcessServerConfig['serve']

const say = (text: string) => ({ content: [{ type: 'text' as const, text }] })

function makeServer(notes: string[] = []): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  const note = z.object({ note: z.string() })
  server.registerTool('add', { inputSchema: note }, (args) => {
    notes.push(args.note)
    return say(`${notes.length} notes`)
  })
  server.registerTool('long', {}, () => say('x'.repeat(2000)))
  server.registerTool('circle', {}, () => {
    const circle: Record<string, unknown> = {}
    circle['itself'] = circle
    return { ...say('round'), structuredContent: circle }
  })
  return server
}

const inProcess = (serve: Serve, more: Partial<InProcessServerConfig> = {}) =>
  ({ type: 'in-process', serve, ...more }) as const

test('an application calls the tools of its own server, with the checks of any other', async () => {
  const serve: Serve = (transport) => makeServer().connect(transport)
  const stage = await HostStage.start(() => ({ notes: inProcess(serve) }))
  expect(stage.find('notes')).toMatchObject({ state: 'ready', type: 'in-process' })
  expect(stage.toolsOf('notes')).toEqual(['add', 'long', 'circle'])
  expect(await stage.call('notes.add', { note: 'milk' })).toBe('1 notes')
  await expect(stage.call('notes.add', {})).rejects.toThrow('note')
})

test('a server of an application stands beside one that is written as in a file', async () => {
  const serve: Serve = (transport) => makeServer().connect(transport)
  const stage = await HostStage.open()
  const { command, args } = stage.workspace.fixture('echo')
  const notes = {
    ...inProcess(serve),
    timeout: 5,
    tools: { allow: ['add'] },
    dependencies: ['echo'],
  }
  await stage.host.initialize({ servers: { notes, echo: { command, args } } })
  expect(stage.toolsOf('notes')).toEqual(['add'])
  expect(await stage.call('notes.add', { note: 'milk' })).toBe('1 notes')
  const report = await stage.host.reload({ servers: { notes, echo: { command, args } } })
  expect(report).toMatchObject({ changed: [], unchanged: ['notes', 'echo'] })
})

test('a server that ends is made again', async () => {
  const made: McpServer[] = []
  const stage = await HostStage.start(() => ({
    notes: inProcess(async (transport) => {
      const server = makeServer()
      made.push(server)
      await server.connect(transport)
    }),
  }))
  await made[0]?.close()
  await eventually(() => made.length === 2 && stage.find('notes').state === 'ready')
  expect(await stage.call('notes.add', { note: 'milk' })).toBe('1 notes')
})

test('an answer that is no JSON is an error of its call', async () => {
  const serve: Serve = (transport) => makeServer().connect(transport)
  const stage = await HostStage.start(() => ({ notes: inProcess(serve, { timeoutMs: 2000 }) }))
  await expect(stage.call('notes.circle')).rejects.toThrow('its answer is no JSON')
  expect(await stage.call('notes.add', { note: 'milk' })).toBe('1 notes')
})

test('a server that cannot be made is unavailable, with its reason', async () => {
  const serve: Serve = () => {
    throw new Error('no room for notes')
  }
  const stage = await HostStage.open({ startPolicy: 'best-effort' })
  await stage.host.initialize({ servers: { notes: inProcess(serve) } }).catch(() => undefined)
  expect(stage.find('notes')).toMatchObject({ state: 'unavailable' })
  expect(stage.find('notes').error?.message).toContain('no room for notes')
})

test('a file cannot have a server that is code', async () => {
  const stage = await HostStage.open()
  const path = await stage.workspace.write('mcp.json', {
    servers: { notes: { type: 'in-process' } },
  })
  const fault =
    'servers.notes.serve: must be a function, which only the code of an application can give'
  await expect(stage.host.initialize(path)).rejects.toThrow(fault)
})
