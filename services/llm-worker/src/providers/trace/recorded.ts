import { appendFile } from 'node:fs/promises'
import { BusError } from '@mcp-host/contracts'
import type { Model, StreamPart } from '../../model.ts'
import type { TracedAnswer } from './trace.ts'
import { askedFor } from './trace.ts'

/** A model whose answers are written to a file, one a line, for `replayModel`. What is left early is not. */
export function recorded(model: Model, path: string): Model {
  return {
    ...model,
    async *stream(request, options): AsyncGenerator<StreamPart> {
      const begin = performance.now()
      const parts: TracedAnswer['parts'] = []
      const write = async (error?: BusError): Promise<void> => {
        const answer: TracedAnswer = {
          asked: askedFor(request),
          provider: model.provider,
          model: model.model,
          parts,
          ...(error === undefined ? {} : { error: error.toInfo() }),
        }
        // One write: several workers may share the file.
        await appendFile(path, `${JSON.stringify(answer)}\n`)
      }
      try {
        for await (const part of model.stream(request, options)) {
          parts.push([Math.round(performance.now() - begin), part])
          if (part.type === 'end') await write()
          yield part
        }
      } catch (error) {
        options.signal.throwIfAborted()
        await write(BusError.from(error))
        throw error
      }
    },
  }
}
