import { open } from 'node:fs/promises'
import { BusError } from '@mcp-host/contracts'
import type { Model, StreamPart } from '../../model.ts'
import type { TracedAnswer } from './trace.ts'
import { askedFor } from './trace.ts'

export interface RecordOptions {
  readonly path: string
  /** Called when an answer could not be recorded. The answer itself does not fail. */
  readonly onFailure: (error: unknown) => void
}

/**
 * A model whose answers are appended to a file, one per line, for `replayModel`. An answer that its reader leaves early
 * is not recorded.
 */
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

/** Appends a line in one write, since several workers may share the file. Only its owner can read the file. */
export async function appendLine(path: string, line: string): Promise<void> {
  await using file = await open(path, 'a', 0o600)
  await file.write(Buffer.from(`${line}\n`))
}
