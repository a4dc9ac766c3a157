import type { Choice } from './choosing/choose-tool.ts'
import type { Match } from './choosing/score-tool.ts'

type Call = Extract<Choice, { kind: 'call' }>

/** Why this tool and these arguments, in words. */
export function reasonForCall(clause: string, call: Call): string {
  const { tool, matches, isNamed } = call
  const why = isNamed ? 'The message calls it by its name.' : matchedWords(matches)
  const given = Object.entries(call.arguments).map(
    ([name, value]) => `${name} = ${shorten(JSON.stringify(value))}`,
  )
  const what = given.length === 0 ? 'It needs no arguments.' : `Arguments: ${given.join(', ')}.`
  return `For “${shorten(clause)}” I choose the tool ${tool.tool} of the server ${tool.server}. ${why} ${what}`
}

export function reasonForText(isAnswered: boolean, toolCount: number): string {
  if (isAnswered) return 'All steps are done, so I show what the tools answered.'
  return toolCount === 0
    ? 'There are no tools, and without one I can do nothing.'
    : `None of the ${toolCount} tools fits the message well enough.`
}

/** Keeps a value of any length readable in one line. */
export function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

function matchedWords(matches: readonly Match[]): string {
  const places = (['name', 'arguments', 'description'] as const).flatMap((where) => {
    const words = matches.filter((match) => match.where === where).map(({ word }) => `“${word}”`)
    return words.length === 0 ? [] : [`its ${where} by ${words.join(', ')}`]
  })
  return `The message fits ${places.join(', and ')}.`
}
