import type { ModelUsage } from '@mcp-host/contracts'
import { addUsage, Usage } from '@mcp-host/contracts'
import type { Model, StreamPart } from '../model.ts'

/** A model that is asked once more when it ends without text and without a tool call; then the user is told. */
export function withAnswer(model: Model): Model {
  return {
    ...model,
    async *stream(request, options): AsyncGenerator<StreamPart> {
      const { provider } = model
      let hasAnswer = false
      let first: (StreamPart & { type: 'end' }) | undefined
      for await (const part of model.stream(request, options)) {
        hasAnswer = isAnswer(part) ?? hasAnswer
        if (part.type === 'end' && !hasAnswer && part.isCut !== true) first = part
        else yield part
      }
      if (first === undefined) return
      yield { type: 'notice', text: `${provider} ended without an answer, and is asked again` }
      for await (const part of model.stream(request, options)) {
        hasAnswer = isAnswer(part) ?? hasAnswer
        if (part.type === 'end' && !hasAnswer) {
          yield { type: 'notice', text: `${provider} gave no answer, also when asked again` }
        }
        yield part.type === 'end' ? { ...part, ...usageOf(model, first, part) } : part
      }
    },
  }
}

/** Whether the model has answered with this part; `undefined` for a part that does not tell. */
function isAnswer(part: StreamPart): boolean | undefined {
  if (part.type === 'relabel') return part.kind === 'text'
  const isText = part.type === 'text-delta' && /\S/.test(part.text)
  return part.type === 'tool-call' || isText || undefined
}

/** The usage of both requests, since both are paid for. */
function usageOf(
  { provider, model }: Model,
  ...ends: readonly { readonly usage?: Usage }[]
): { usage?: Usage } {
  const sums: ModelUsage[] = []
  for (const { usage } of ends) addUsage(sums, { provider, model, usage })
  const parsed = Usage.parse(sums[0])
  return Object.keys(parsed).length === 0 ? {} : { usage: parsed }
}
