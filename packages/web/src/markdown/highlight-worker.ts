// The thread of `Highlighter`: says when a language is loaded, since only the work after it has a time limit.
import { loadLanguage } from './highlight-code.ts'
import type { HighlightMessage, HighlightRequest } from './highlight.ts'

globalThis.addEventListener('message', ({ data }: MessageEvent<HighlightRequest>) => {
  void answer(data)
})

async function answer({ code, language }: HighlightRequest): Promise<void> {
  try {
    const highlight = await loadLanguage(language)
    say({ isLoaded: true })
    say({ pieces: highlight?.(code) })
  } catch {
    // The language could not be loaded, or its grammar fails: the code stays plain.
    say({})
  }
}

function say(message: HighlightMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- between threads there is none
  globalThis.postMessage(message)
}
