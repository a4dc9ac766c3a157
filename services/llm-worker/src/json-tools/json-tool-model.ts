import type { ContentBlock, OfferedTool, PromptMessage } from '@mcp-host/contracts'
import type { Model, ModelRequest, StreamPart } from '../model.ts'
import { ToolCallSplitter } from './tool-call-splitter.ts'

/** Adapts a model without tool calling: tools are listed in its prompt, and calls are parsed from its text. */
export function jsonToolModel(model: Model): Model {
  return {
    ...model,
    async *stream(request, options): AsyncGenerator<StreamPart> {
      const parts = model.stream(inWords(request), options)
      const names = new Set(request.tools.map(({ safeName }) => safeName))
      yield* names.size === 0 ? parts : withCalls(parts, names)
    },
  }
}

async function* withCalls(
  parts: AsyncIterable<StreamPart>,
  names: ReadonlySet<string>,
): AsyncGenerator<StreamPart> {
  const splitter = new ToolCallSplitter((tool) => names.has(tool))
  for await (const part of parts) {
    if (part.type === 'text-delta') yield* splitter.push(part.text)
    else {
      if (part.type === 'end' || part.type === 'relabel') yield* splitter.end()
      yield part
    }
  }
}

/** Turns the tools of a request, and earlier calls and results, into text. */
function inWords({ system, messages, tools, ...rest }: ModelRequest): ModelRequest {
  const prompt = [system, tools.length === 0 ? undefined : listed(tools)]
    .filter((part) => part !== undefined)
    .join('\n\n')
  return {
    ...rest,
    messages: messages.map(messageInWords),
    tools: [],
    ...(prompt === '' ? {} : { system: prompt }),
  }
}

function listed(tools: readonly OfferedTool[]): string {
  const list = tools.map(({ safeName, description, inputSchema }) =>
    JSON.stringify({ tool: safeName, description, arguments: inputSchema }),
  )
  return [
    'You can call tools. To call one, write a JSON object with its name and arguments that fit its schema:',
    '{"tool":"<name>","arguments":{…}}',
    'Write several of them for several calls. Then end your answer: the results come with the next message. Call only tools of this list, and none when you know the answer.',
    'The tools, with the JSON schema of their arguments:',
    ...list,
  ].join('\n')
}

function messageInWords(message: PromptMessage): PromptMessage {
  switch (message.role) {
    case 'user':
      return message
    case 'assistant':
      return { ...message, content: message.content.map(blockInWords) }
    case 'tool': {
      const media = message.answers.flatMap((answer) => answer.media ?? [])
      return {
        role: 'user',
        ...(media.length === 0 ? {} : { media }),
        text: message.answers
          .map(({ name, text, isError }) =>
            isError ? `The tool ${name} failed:\n${text}` : `Result of the tool ${name}:\n${text}`,
          )
          .join('\n\n'),
      }
    }
    default:
      return message satisfies never
  }
}

function blockInWords(block: ContentBlock): ContentBlock {
  if (block.type !== 'tool-call') return block
  const text = JSON.stringify({ tool: block.name, arguments: block.arguments })
  return { type: 'text', text: `\n${text}\n` }
}
