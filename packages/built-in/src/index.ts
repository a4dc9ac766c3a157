export {
  createLlmServer,
  type HostModels,
  type KnownModel,
  type ModelAnswer,
  type Question,
} from './llm/index.ts'
