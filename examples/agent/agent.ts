// An agent in one file: a model of the AI SDK that uses the tools of MCP servers, which the mcp-host library runs.
// Needs a model behind an API as OpenAI's; Ollama on this machine unless the environment names another:
//   LLM_BASE_URL=https://… LLM_API_KEY=… LLM_MODEL=… node examples/agent/agent.ts "What is the weather in Oslo?"
import { join } from 'node:path'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { isStepCount, streamText } from 'ai'
import { MCPHost } from 'mcp-host'
import { toAiSdkTools } from 'mcp-host/ai-sdk'

const [prompt = 'What is the weather in Oslo?'] = process.argv.slice(2)
const {
  LLM_BASE_URL: baseURL = 'http://127.0.0.1:11434/v1',
  LLM_API_KEY: apiKey = '',
  LLM_MODEL: modelName = 'qwen3',
} = process.env

// `using` ends the servers with the program.
await using host = new MCPHost()
await host.initialize({
  servers: {
    weather: { command: 'node', args: [join(import.meta.dirname, '../weather/server.ts')] },
  },
})

const { fullStream } = streamText({
  model: createOpenAICompatible({ name: 'llm', baseURL, apiKey })(modelName),
  tools: toAiSdkTools(host),
  stopWhen: isStepCount(10),
  prompt,
})
/** Models and servers must not control the terminal: line breaks and tabs stay, other control characters do not. */
const plain = (text: string): string =>
  text.replaceAll(/(?![\n\t])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, ' ')

for await (const part of fullStream) {
  if (part.type === 'text-delta') process.stdout.write(plain(part.text))
  if (part.type === 'tool-call') {
    console.error(plain(`→ ${part.toolName} ${JSON.stringify(part.input)}`))
  }
  if (part.type === 'error') throw part.error
}
process.stdout.write('\n')
