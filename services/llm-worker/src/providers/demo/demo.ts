import type { ProviderDefinition } from '../definition/provider-definition.ts'

/** The built-in demo model, which runs in the worker. */
export const demo: ProviderDefinition = {
  title: 'Built-in demo model',
  baseUrl: '',
  defaultModel: 'demo-1',
  contextWindow: 131_072,
  reads: [],
  list: async () => [{ id: 'demo-1', tools: true, pictures: false }],
}
