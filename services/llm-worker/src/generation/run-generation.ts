import type {
  ContentBlock,
  GenerateRequest,
  GenerationResult,
  OfferedTool,
  TextDelta,
} from '@mcp-host/contracts'
import { BusError, toolCallId } from '@mcp-host/contracts'
import { isTooDeep } from '@mcp-host/json'
import type { Model, StreamPart } from '../model.ts'
import type { UsageMeter } from '../usage.ts'
import { usageMeter } from '../usage.ts'
import { DeltaCoalescer } from './delta-coalescer.ts'
import type { GenerationText } from './generation-text.ts'

/** The time limit of orchestrators of earlier versions, which send a time of their own clock. */
const LIMIT_MS = 600_000

export interface RunGenerationDeps {
  readonly model: Model
  readonly text: GenerationText
  /** Loads the messages and tools that are stored outside of the request. */
  readonly readPrompt: (
    request: GenerateRequest,
  ) => Promise<Pick<GenerateRequest, 'messages' | 'tools'>>
  readonly emit: (delta: TextDelta) => void
  /** Called with the failure and its cause. The result has only the part that users may read. */
  readonly onFailure: (error: BusError) => void
  /** Called once, at the first text or reasoning. */
  readonly onFirstText: () => void
}

/** Runs one generation to its end. Never throws: a failure or cancellation is a result. */
export async function runGeneration(
  { model, text, readPrompt, emit, onFailure, onFirstText }: RunGenerationDeps,
  request: GenerateRequest,
  { signal }: { signal: AbortSignal },
): Promise<GenerationResult> {
  const { generation } = request
  let { provider, model: name } = model
  const notices: string[] = []
  const base = () => ({
    generation,
    provider,
    model: name,
    ...(notices.length === 0 ? {} : { notices }),
  })
  const late = AbortSignal.timeout(request.limitMs ?? LIMIT_MS)
  const either = AbortSignal.any([signal, late])
  const offered = new Map<string, OfferedTool>()
  using coalescer = new DeltaCoalescer(emit)
  let usage: GenerationResult['usage']
  let meter: UsageMeter | undefined
  let calls = 0

  const take = (part: StreamPart): void => {
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        if (part.text === '') return
        if (text.length === 0) onFirstText()
        const kind = part.type === 'text-delta' ? 'text' : 'reasoning'
        coalescer.push(text.append(kind, part.text))
        return
      }
      case 'relabel':
        text.relabel(part.kind)
        return
      case 'block-end':
        text.endBlock(part.providerMetadata)
        return
      case 'tool-call': {
        const known = offered.get(part.name)
        text.addToolCall({
          type: 'tool-call',
          id: toolCallId(request.generation, calls++),
          name: known?.safeName ?? part.name,
          ...(known === undefined ? {} : { server: known.server, tool: known.tool }),
          arguments: parseArguments(part.arguments),
          ...(part.providerMetadata === undefined
            ? {}
            : { providerMetadata: part.providerMetadata as ContentBlock['providerMetadata'] }),
        })
        return
      }
      case 'end':
        usage = part.usage
        return
      case 'progress':
        return
      case 'notice':
        notices.push(part.text)
        return
      case 'answering':
        ;({ provider, model: name } = part)
        return
      default:
        part satisfies never
    }
  }

  try {
    const { system, temperature } = request
    const { messages, tools } = await readPrompt(request)
    // Some models write a dot between server and tool.
    for (const tool of tools) offered.set(`${tool.server}.${tool.tool}`, tool)
    for (const tool of tools) offered.set(tool.safeName, tool)
    const asked = {
      messages,
      tools,
      ...(system === undefined ? {} : { system }),
      ...(temperature === undefined ? {} : { temperature }),
    }
    meter = usageMeter(asked)
    for await (const part of model.stream(asked, { signal: either })) {
      meter.add(part)
      take(part)
    }
    either.throwIfAborted()
    coalescer.flush()
    return {
      ...base(),
      outcome: 'completed',
      content: text.content(),
      ...(usage === undefined ? {} : { usage }),
    }
  } catch (error) {
    coalescer.flush()
    const content = text.content()
    // The provider charges for a partial answer but reports no usage for it.
    if (content.length > 0 && meter !== undefined) usage ??= { ...meter.read(), isEstimate: true }
    const taken = usage === undefined ? {} : { usage }
    if (signal.aborted) return { ...base(), outcome: 'cancelled', content, ...taken }
    const failure = late.aborted
      ? new BusError('deadline', 'the model did not finish in time')
      : BusError.from(error)
    onFailure(failure)
    return { ...base(), outcome: 'failed', content, ...taken, error: failure.toInfo() }
  }
}

/**
 * The arguments of a call. Some models write the JSON of an object as a JSON string. Invalid or too deeply nested JSON
 * is kept as text, which the orchestrator refuses.
 */
function parseArguments(json: string): (ContentBlock & { type: 'tool-call' })['arguments'] {
  if (json.trim() === '') return {}
  try {
    const value = JSON.parse(json) as (ContentBlock & { type: 'tool-call' })['arguments']
    if (typeof value === 'string' && value.trimStart().startsWith('{')) return parseArguments(value)
    return isTooDeep(value) ? json : value
  } catch {
    return json
  }
}
