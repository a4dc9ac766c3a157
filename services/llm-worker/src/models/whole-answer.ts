/** An object of JSON. */
type Fields = Readonly<Record<string, unknown>>

/**
 * The events of a stream for an answer that came whole, as JSON, from a server or proxy that does not stream; `undefined`
 * for JSON that is no answer.
 */
export function eventsOfWhole(json: unknown): readonly object[] | undefined {
  // Gemini's API answers with a list of its events when a proxy drops `alt=sse`.
  if (Array.isArray(json)) {
    return json.length > 0 && json.every((each) => 'candidates' in fieldsOf(each))
      ? json
      : undefined
  }
  const whole = fieldsOf(json)
  if (Array.isArray(whole['candidates'])) return [whole]
  if (Array.isArray(whole['choices'])) return chatEvents(whole, whole['choices'])
  if (whole['type'] === 'message') return anthropicEvents(whole)
  if (whole['object'] === 'response') return responseEvents(whole)
  return undefined
}

function chatEvents(whole: Fields, choices: readonly unknown[]): object[] | undefined {
  const [choice] = choices.map(fieldsOf)
  if (choice === undefined || !('message' in choice)) return undefined
  const { message: delta, ...rest } = choice
  const calls = listOf(fieldsOf(delta)['tool_calls']).map((call, index) => ({ index, ...call }))
  const told = { ...fieldsOf(delta), ...(calls.length === 0 ? {} : { tool_calls: calls }) }
  return [{ ...whole, choices: [{ ...rest, delta: told }] }]
}

function anthropicEvents(whole: Fields): object[] {
  const { content, stop_reason, stop_sequence, usage } = whole
  const message = { ...whole, content: [], stop_reason: null, stop_sequence: null }
  const blocks = listOf(content).flatMap((block, index) => {
    const delta = (fields: object): object => ({
      type: 'content_block_delta',
      index,
      delta: fields,
    })
    const { type, text, thinking, signature, input } = block
    const [content_block, deltas] =
      type === 'text'
        ? [{ ...block, text: '' }, [delta({ type: 'text_delta', text })]]
        : type === 'tool_use'
          ? [
              { ...block, input: {} },
              [delta({ type: 'input_json_delta', partial_json: JSON.stringify(input) })],
            ]
          : type === 'thinking'
            ? [
                { ...block, thinking: '' },
                [
                  delta({ type: 'thinking_delta', thinking }),
                  delta({ type: 'signature_delta', signature }),
                ],
              ]
            : [block, []]
    return [
      { type: 'content_block_start', index, content_block },
      ...deltas,
      { type: 'content_block_stop', index },
    ]
  })
  return [
    { type: 'message_start', message },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
    { type: 'message_stop' },
  ]
}

function responseEvents(whole: Fields): object[] {
  const items = listOf(whole['output']).flatMap((output, output_index) => {
    const { id: item_id, type } = output
    const isMessage = type === 'message'
    const texts = isMessage ? listOf(output['content']) : []
    // The package for Grok reads texts from both events.
    const item = isMessage ? { ...output, content: [] } : output
    return [
      { type: 'response.output_item.added', output_index, item },
      ...texts.map(({ text = '' }, content_index) => ({
        type: 'response.output_text.delta',
        item_id,
        output_index,
        content_index,
        delta: text,
      })),
      { type: 'response.output_item.done', output_index, item },
    ]
  })
  const end = whole['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed'
  return [
    { type: 'response.created', response: whole },
    ...items,
    { type: end, response: whole },
  ].map((event, sequence_number) => ({ ...event, sequence_number }))
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

/** The fields of an object; each is checked where it is read. */
function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
