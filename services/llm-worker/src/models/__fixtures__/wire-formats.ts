/** An answer of a model. */
export interface Answer {
  readonly reasoning?: string
  readonly content?: string
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: string }[]
}

/** The server-sent events of an answer, in pieces of one or more events. */
export interface WireFormat {
  /** The text before the first piece. */
  readonly begin: string
  /** The event that opens a text, before its first piece. */
  readonly openText: string
  readonly text: (piece: string) => string
  readonly closeText: string
  /** An unfinished tool call with these arguments. */
  readonly halfCall: (name: string, json: string) => string
  /** The text after the last piece, with a usage of 7 input and 3 output tokens. */
  readonly end: string
  /** An answer with text and a tool call as JSON, for a request without streaming. */
  readonly json: (text: string, name: string, args: object) => object
  /** A whole answer, for a provider whose format LLMock does not support. */
  readonly whole?: (answer: Answer) => string
}

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { type: string }): string => `event: ${value.type}\n${data(value)}`

function candidate(parts: object[], more: object = {}): string {
  return data({ candidates: [{ content: { role: 'model', parts }, ...more }] })
}

const gemini: WireFormat = {
  begin: '',
  openText: '',
  text: (text) => candidate([{ text }]),
  closeText: '',
  // Gemini sends calls only whole.
  halfCall: (name, json) =>
    candidate([{ functionCall: { name, args: JSON.parse(json) as object } }]),
  json: (text, name, args) => ({
    candidates: [
      {
        content: { role: 'model', parts: [{ text }, { functionCall: { name, args } }] },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
  }),
  end: data({
    candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
  }),
}

const anthropic: WireFormat = {
  begin: named({
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 7, output_tokens: 1 },
    },
  } as { type: string }),
  openText: block('content_block_start', 0, { content_block: { type: 'text', text: '' } }),
  text: (text) => block('content_block_delta', 0, { delta: { type: 'text_delta', text } }),
  closeText: block('content_block_stop', 0),
  halfCall: (name, json) =>
    block('content_block_start', 1, {
      content_block: { type: 'tool_use', id: 'toolu_1', name, input: {} },
    }) +
    block('content_block_delta', 1, {
      delta: { type: 'input_json_delta', partial_json: half(json) },
    }),
  json: (text, name, input) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'text', text },
      { type: 'tool_use', id: 'toolu_1', name, input },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 7, output_tokens: 3 },
  }),
  end:
    named({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 3 },
    } as { type: string }) + named({ type: 'message_stop' }),
}

function block(type: string, index: number, more: object = {}): string {
  return named({ type, index, ...more } as { type: string })
}

const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [] }
const responseUsage = {
  input_tokens: 7,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 3,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 10,
}
const message = { type: 'message', id: 'msg_1', role: 'assistant' }
const functionCall = { type: 'function_call', id: 'fc_1', call_id: 'call_1' }

const responses: WireFormat = {
  begin: step('response.created', { response: { ...response, status: 'in_progress' } }),
  openText: step('response.output_item.added', {
    output_index: 0,
    item: { ...message, status: 'in_progress', content: [] },
  }),
  text: (delta) =>
    step('response.output_text.delta', {
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta,
    }),
  closeText: step('response.output_item.done', {
    output_index: 0,
    item: { ...message, status: 'completed', content: [] },
  }),
  halfCall: (name, json) =>
    step('response.output_item.added', {
      output_index: 1,
      item: { ...functionCall, name, arguments: '', status: 'in_progress' },
    }) +
    step('response.function_call_arguments.delta', {
      item_id: 'fc_1',
      output_index: 1,
      delta: half(json),
    }),
  json: (text, name, args) => ({
    ...response,
    status: 'completed',
    output: [
      {
        ...message,
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
      { ...functionCall, name, arguments: JSON.stringify(args), status: 'completed' },
    ],
    usage: responseUsage,
  }),
  end: step('response.completed', {
    response: {
      ...response,
      status: 'completed',
      usage: responseUsage,
    },
  }),
}

function step(type: string, more: object): string {
  return named({ type, sequence_number: 0, ...more } as { type: string })
}

/** Like OpenAI's format, but reasoning has a status. */
const grok: WireFormat = {
  ...responses,
  whole: ({ reasoning, content, toolCalls = [] }) =>
    [
      responses.begin,
      reasoning === undefined ? '' : grokReasoning(reasoning),
      content === undefined
        ? ''
        : responses.openText + responses.text(content) + responses.closeText,
      ...toolCalls.map(({ name, arguments: json }, index) =>
        step('response.output_item.done', {
          output_index: index + 2,
          item: {
            type: 'function_call',
            id: `fc_${index}`,
            call_id: `call_${index}`,
            name,
            arguments: json,
            status: 'completed',
          },
        }),
      ),
      responses.end,
    ].join(''),
}

function grokReasoning(text: string): string {
  const item = { type: 'reasoning', id: 'rs_1' }
  const position = { item_id: 'rs_1', output_index: 0, summary_index: 0 }
  const part = { type: 'summary_text', text }
  return [
    step('response.output_item.added', {
      output_index: 0,
      item: { ...item, summary: [], status: 'in_progress' },
    }),
    step('response.reasoning_summary_part.added', { ...position, part: { ...part, text: '' } }),
    step('response.reasoning_summary_text.delta', { ...position, delta: text }),
    step('response.reasoning_summary_text.done', { ...position, text }),
    step('response.reasoning_summary_part.done', { ...position, part }),
    step('response.output_item.done', {
      output_index: 0,
      item: { ...item, summary: [part], status: 'completed', encrypted_content: 'sealed' },
    }),
  ].join('')
}

const chunk = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' }
const choice = (delta: object, finish_reason: string | null = null): string =>
  data({ ...chunk, choices: [{ index: 0, delta, finish_reason }] })

const chat: WireFormat = {
  begin: choice({ role: 'assistant', content: '' }),
  openText: '',
  text: (content) => choice({ content }),
  closeText: '',
  halfCall: (name, json) =>
    choice({
      tool_calls: [
        { index: 0, id: 'call_1', type: 'function', function: { name, arguments: half(json) } },
      ],
    }),
  json: (content, name, args) => ({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(args) } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  }),
  end:
    choice({}, 'stop') +
    data({
      ...chunk,
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    }) +
    'data: [DONE]\n\n',
}

function half(json: string): string {
  return json.slice(0, json.length / 2)
}

export const wireFormats = { gemini, anthropic, responses, grok, chat }
