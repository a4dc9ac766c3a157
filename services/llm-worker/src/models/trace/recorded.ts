import { open } from 'node:fs/promises'
import { BusError } from '@mcp-host/contracts'
import type { Model, StreamPart } from '../../model.ts'
import type { TracedAnswer } from './trace.ts'
import { askedFor } from './trace.ts'

export interface RecordOptions {
  readonly path: string
  /** Told when an answer could not be written; it is given all the same. */
  readonly onFailure: (error: unknown) => void
}

/** A model whose answers are written to a file, one a line, for `replayModel`. What is left early is not. */
export function recorded(model: Model, { path, onFailure }: RecordOptions): Model {
  const { provider, contextWindow } = model
  return {
    ...model,
    async *stream(request, options): AsyncGenerator<StreamPart> {
      const begin = performance.now()
      const parts: TracedAnswer['parts'] = []
      const write = async (error?: BusError): Promise<void> => {
        const answer: TracedAnswer = {
          asked: askedFor(request),
          provider,
          model: model.model,
          ...(contextWindow === undefined ? {} : { contextWindow }),
          parts,
          ...(error === undefined ? {} : { error: error.toInfo() }),
        }
        await appendLine(path, JSON.stringify(answer)).catch(onFailure)
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

/** In one write, since several workers may share the file; nobody else is to read it. */
export async function appendLine(path: string, line: string): Promise<void> {
  await using file = await open(path, 'a', 0o600)
  await file.write(Buffer.from(`${line}\n`))
}
