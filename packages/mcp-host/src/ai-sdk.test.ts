import { generateText, isStepCount } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { expect, test } from 'vitest'

import { HostStage } from '../test/host-stage.ts'
import { toAiSdkTools } from './ai-sdk.ts'
import type { CallToolResult } from './index.ts'
import type { HostTool } from '@mcp-host/upstream'
import { portableSchema } from '@mcp-host/json'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** A model that calls a tool once and then answers. */
function modelCalling(toolName: string, args: object): MockLanguageModelV4 {
  const call = { toolCallId: 'call-1', toolName, input: JSON.stringify(args) }
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const isFirst = !prompt.some(({ role }) => role === 'tool')
      return {
        content: isFirst
          ? [{ type: 'tool-call', ...call }]
          : [{ type: 'text', text: 'The tool has answered.' }],
        finishReason: isFirst
          ? { unified: 'tool-calls', raw: undefined }
          : { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      }
    },
  })
}

test('a model of the AI SDK calls a tool of a server and reads its result', async () => {
  const { host } = await HostStage.start((workspace) => ({ it: workspace.fixture('echo') }))
  const model = modelCalling('it__echo', { text: 'hello' })
  const { text, steps } = await generateText({
    model,
    tools: toAiSdkTools(host),
    stopWhen: isStepCount(2),
    prompt: 'Say hello.',
  })

  expect(text).toBe('The tool has answered.')
  expect(steps[0]?.toolResults[0]?.output).toEqual({ content: [{ type: 'text', text: 'hello' }] })
  const offered = model.doGenerateCalls[0]?.tools ?? []
  expect(offered).toHaveLength(host.getTools().length)
  for (const { tool, inputSchema } of host.getTools()) {
    expect(offered).toContainEqual(
      expect.objectContaining({ name: `it__${tool}`, inputSchema: portableSchema(inputSchema) }),
    )
  }
  expect(model.doGenerateCalls[1]?.prompt.at(-1)).toMatchObject({
    role: 'tool',
    content: [{ output: { type: 'content', value: [{ type: 'text', text: 'hello' }] } }],
  })
})

test('a model of the AI SDK gets the error of a failed tool, or of invalid arguments', async () => {
  const { host } = await HostStage.start((workspace) => ({ it: workspace.fixture('echo') }))
  const lastMessage = async (toolName: string): Promise<unknown> => {
    const model = modelCalling(toolName, {})
    const tools = toAiSdkTools(host)
    await generateText({ model, tools, stopWhen: isStepCount(2), prompt: 'Go.' })
    return model.doGenerateCalls[1]?.prompt.at(-1)
  }
  const failed = { type: 'error-text', value: 'it went wrong' }
  expect(await lastMessage('it__fails')).toMatchObject({ content: [{ output: failed }] })
  const refused = { type: 'error-text', value: expect.stringContaining('"text"') }
  expect(await lastMessage('it__echo')).toMatchObject({ content: [{ output: refused }] })
})

test('schemas are made fit for every provider, and a tool without such a schema is left out', () => {
  // Only what the conversion reads.
  const tool = (name: string, inputSchema: HostTool['inputSchema']): HostTool =>
    ({ server: 's', tool: name, inputSchema }) as HostTool
  const place = { $ref: '#/$defs/place' }
  const listed = [
    tool('fits', { type: 'object', properties: { place }, $defs: { place: { type: 'string' } } }),
    tool('either', {
      type: 'object',
      anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }],
    }),
    tool('lost', { type: 'object', properties: { place } }),
  ]
  const leftOut: string[] = []
  const host = { getTools: () => listed, callTool: () => Promise.reject(new Error('not called')) }
  const tools = toAiSdkTools(host, {
    onLeftOut: ({ tool: name }, reason) => leftOut.push(`${name}: ${reason}`),
  })
  const schemas = Object.entries(tools).map(([name, { inputSchema }]) => [
    name,
    inputSchema['~standard'].jsonSchema.input(),
  ])
  expect(Object.fromEntries(schemas)).toEqual({
    s__fits: { type: 'object', properties: { place: { type: 'string' } } },
    s__either: { type: 'object', properties: { a: {}, b: {} } },
  })
  expect(leftOut).toEqual([
    'lost: the schema of its arguments refers to "#/$defs/place", which is not in it',
  ])
})

test('an aborted request of the AI SDK aborts the call', async () => {
  const { host } = await HostStage.start((workspace) => ({ it: workspace.fixture('echo') }))
  const abort = new AbortController()
  const tool = toAiSdkTools(host)['it__never']
  const call = tool?.execute({}, { toolCallId: 'call-1', abortSignal: abort.signal })
  abort.abort(new Error('enough'))
  await expect(call).rejects.toThrow('enough')
})

const media: CallToolResult['content'] = [
  { type: 'image', data: 'aW1n', mimeType: 'image/png' },
  { type: 'resource_link', uri: 'file:///a', name: 'a' },
]

test('images go to the model as files, other parts as their JSON', async () => {
  const host = hostOf([{ name: 's.t', server: 's', tool: 't', inputSchema: {} }], media)
  const tool = toAiSdkTools(host)['s__t']
  const output = await tool?.execute(undefined, { toolCallId: 'call-1' })
  expect(output && tool?.toModelOutput({ output })).toEqual({
    type: 'content',
    value: [
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aW1n' } },
      { type: 'text', text: JSON.stringify(media[1]) },
    ],
  })
})

test('tools for apps only, and tools that the filter drops, are not offered to the AI SDK', () => {
  const visibleTool = (tool: string, visibility?: string[]): HostTool => {
    return { name: `s.${tool}`, server: 's', tool, inputSchema: {}, _meta: { ui: { visibility } } }
  }
  const host = hostOf([
    visibleTool('a'),
    visibleTool('b', ['model', 'app']),
    visibleTool('c', ['app']),
    visibleTool('d'),
  ])
  const filter = ({ tool }: HostTool): boolean => tool !== 'd'
  expect(Object.keys(toAiSdkTools(host, { filter }))).toEqual(['s__a', 's__b'])
})

/** The part of a host from which the tools are made. */
function hostOf(
  tools: HostTool[],
  content: CallToolResult['content'] = [],
): Parameters<typeof toAiSdkTools>[0] {
  return { getTools: () => tools, callTool: async () => ({ content }) }
}
