import type { Draft } from '../state/draft.ts'
import { meantFiles } from './meant-files.ts'

/** Takes files that are dropped anywhere on the page, or their text; the browser would open them. The returned function ends it. */
export function takeDrops(draft: Draft): () => void {
  const end = new AbortController()
  const { signal } = end
  const onDrag = (event: DragEvent): void => {
    const { dataTransfer } = event
    if (dataTransfer?.types.includes('Files') !== true) return
    event.preventDefault()
    if (event.type !== 'drop') return
    const files = meantFiles(dataTransfer)
    if (files.length > 0) draft.addFiles(files)
    else draft.suggest(dataTransfer.getData('text/plain'))
  }
  for (const name of ['dragover', 'drop'] as const) addEventListener(name, onDrag, { signal })
  return () => end.abort()
}
