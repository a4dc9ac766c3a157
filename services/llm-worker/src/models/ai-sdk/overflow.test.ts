import { expect, test } from 'vitest'
import { saysTooLong } from './overflow.ts'

// From documentation, sources and bug reports of the servers.
test.each([
  [
    'OpenAI',
    "This model's maximum context length is 8192 tokens. Reduce the length of the messages.",
  ],
  ['OpenAI, Responses', 'Your input exceeds the context window of this model.'],
  [
    'OpenAI, one text',
    "Invalid 'messages[1].content': string too long. Expected a maximum length of 1048576",
  ],
  ['Anthropic', 'prompt is too long: 210000 tokens > 200000 maximum'],
  [
    'Anthropic, with answer',
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
  ],
  ['Anthropic, bytes', '{"type":"request_too_large","message":"Request exceeds the maximum size"}'],
  [
    'Gemini',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  ],
  ['xAI', "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  [
    'Mistral',
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
  ],
  [
    'DeepSeek',
    "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens",
  ],
  ['Groq', 'Please reduce the length of the messages or completion.'],
  ['OpenRouter', "This endpoint's maximum context length is 163840 tokens."],
  ['Bedrock', 'Input is too long for requested model.'],
  ['Bedrock, tokens', 'Too many input tokens. Max input tokens: 8192'],
  ['Copilot', 'prompt token count of 70000 exceeds the limit of 64000'],
  ['Kimi', 'Invalid request: Your request exceeded model token limit: 8192'],
  ['MiniMax', 'invalid params, context window exceeds limit (2013)'],
  ['Qwen', 'Range of input length should be [1, 30720]'],
  ['Zhipu', '{"error":{"code":"1261","message":"Prompt exceeds max length"}}'],
  ['Cohere', 'too many tokens: total number of tokens in the prompt cannot exceed 4081'],
  [
    'watsonx',
    'the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model',
  ],
  ['Fireworks', 'The prompt is too long: 300000, model maximum context length: 131071'],
  ['Ollama', 'the input length exceeds the context length'],
  [
    'LM Studio',
    'Trying to keep the first 36012 tokens when context the overflows. However, the model is loaded with context length of only 8192 tokens, which is not enough.',
  ],
  [
    'LM Studio, new',
    'The number of tokens to keep from the initial prompt is greater than the context length.',
  ],
  [
    'llama.cpp',
    'request (12000 tokens) exceeds the available context size (8192 tokens), try increasing it',
  ],
  ['llama.cpp, type', '{"error":{"code":400,"message":"no","type":"exceed_context_size_error"}}'],
  ['llama.cpp, while it writes', 'Context size has been exceeded.'],
  ['llama.cpp, batch', 'input is too large to process. increase the physical batch size'],
  ['vLLM', 'The decoder prompt (length 12000) is longer than the maximum model length of 8192.'],
  [
    'vLLM, code',
    '{"error":{"message":"no","type":"BadRequestError","code":"context_length_exceeded"}}',
  ],
  [
    'TGI',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`',
  ],
  ['TGI, input', 'Input validation error: `inputs` must have less than 1024 tokens. Given: 3000'],
  ['SGLang', "The input (9000 tokens) is longer than the model's context length (8192 tokens)."],
  ['TabbyAPI', 'Prompt length 9000 is greater than max_seq_len 4096'],
  ['TensorRT', 'Prompt length (9000) exceeds maximum input length (4096)'],
])('%s: "%s" is about a conversation that is too long', (_, words) => {
  expect(saysTooLong(words)).toBe(true)
})

test.each([
  ['an unknown value', 'Invalid value at tools[0]: the token is not known'],
  [
    'a picture',
    'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes',
  ],
  [
    'the number of tools',
    "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 140 instead.",
  ],
  [
    'a name',
    "Invalid 'input[3].name': string too long. Expected a string with maximum length 64, but got a string with length 70 instead.",
  ],
  [
    'the answer',
    'max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude',
  ],
  [
    'the answer, by another',
    'max_tokens is too large: 100000. This model supports at most 16384 completion tokens',
  ],
  ['roles', 'Conversation roles must alternate user/assistant/user/assistant/...'],
  [
    'a type of picture',
    'messages.3.content.1.image.source.base64.data: Image does not match the provided media type image/jpeg',
  ],
  ['a schema', 'tools.1.custom.input_schema: JSON schema is invalid'],
  ['a key', 'Incorrect API key provided'],
  ['an id', 'Tool call id was session-0-0 but must be a-z, A-Z, 0-9, with a length of 9.'],
  ['an option', 'Unsupported parameter: stream_options is not supported'],
  ['a request', 'Bad Request'],
])('"%s" is not: "%s"', (_, words) => {
  expect(saysTooLong(words)).toBe(false)
})
