import type { GenerateRequest, GenerationId, SessionId } from '@mcp-host/contracts'
import { GenerationText } from '../../generation/generation-text.ts'
import { runGeneration } from '../../generation/run-generation.ts'
import type { Model } from '../../model.ts'
import { findProvider } from '../../settings/find-provider.ts'
import { connectModel } from '../create-model.ts'
import type { Subject } from './subjects.ts'

export const KEY = 'a-key-nobody-may-see'
export const MODEL = 'test-model'

/** A model of the provider, at the origin of a fake server. */
export function modelAt(origin: string, { name, path, keyHeader }: Subject): Model {
  const prefix = name.toUpperCase().replaceAll('-', '_')
  const env = {
    [`${prefix}_BASE_URL`]: origin + path,
    ...(keyHeader === undefined ? {} : { [`${prefix}_API_KEY`]: KEY }),
  }
  return connectModel(findProvider(name, {}, env), MODEL, { contextTokens: undefined })
}

export interface AskOptions extends Partial<GenerateRequest> {
  readonly signal?: AbortSignal
  readonly onFirstText?: () => void
}

/** Runs one generation as a worker does. */
export function ask(
  model: Model,
  text: string,
  { signal = AbortSignal.any([]), onFirstText = () => undefined, ...more }: AskOptions = {},
): ReturnType<typeof runGeneration> {
  const generation = 'session-0' as GenerationId
  const deps = {
    model,
    text: new GenerationText(generation),
    readPrompt: async (prompt: GenerateRequest) => prompt,
    emit: () => undefined,
    onFailure: () => {},
    onFirstText,
  }
  const request: GenerateRequest = {
    session: 'session' as SessionId,
    turn: 1,
    generation,
    deadline: Date.now() + 1e4,
    messages: [{ role: 'user', text }],
    tools: [],
    ...more,
  }
  return runGeneration(deps, request, { signal })
}
