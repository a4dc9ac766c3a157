import { HostError, newId } from '@mcp-host/client'
import { host } from './host.ts'
import { keepDraft, readDraft } from './kept-draft.ts'
import { messageOf } from './message-of.ts'
import { Store } from './store.ts'
import type { Attachment } from './turn.ts'

/** The limits of the host. */
const MAX_FILES = 16
/** More files are not even listed, as those of a folder that was dropped by mistake. */
const MAX_LISTED = 100
const MAX_BYTES = 20 * 1024 * 1024

/** A file that will go along with the next message. */
export interface ChosenFile {
  readonly id: string
  readonly file: File
  /** Address of a preview of a picture, within this page. */
  readonly preview: string | undefined
  readonly stored?: Attachment
  /** Why it cannot be sent. */
  readonly fault?: string | undefined
  /** Whether it could not be stored because no gateway answered. */
  readonly isUnstored?: boolean
}

/**
 * What the user has written in a session and not sent. It stays while other pages are shown; its text and model also when
 * the page is reloaded.
 */
export class Draft {
  readonly text: Store<string>
  /** The model of the message; `undefined`: that of the session. */
  readonly model: Store<string | undefined>
  readonly files = new Store<readonly ChosenFile[]>([])
  /** Grows with each suggested text, which gets the focus. */
  readonly suggestions = new Store(0)
  readonly #session: string

  constructor(session: string) {
    this.#session = session
    const { text, model } = readDraft(session)
    this.text = new Store(text)
    this.model = new Store(model)
    const keep = (): void => keepDraft(session, { text: this.text.get(), model: this.model.get() })
    this.text.subscribe(keep)
    this.model.subscribe(keep)
  }

  get isEmpty(): boolean {
    return this.text.get() === '' && this.model.get() === undefined && this.files.get().length === 0
  }

  /** Puts a text from elsewhere in the page behind what is written. */
  suggest(text: string): void {
    const before = this.text.get()
    this.text.set(before.trim() === '' ? text : `${before}\n\n${text}`)
    this.suggestions.set(this.suggestions.get() + 1)
  }

  /** Stores files at the host as soon as they are chosen. */
  readonly addFiles = (files: Iterable<File> | null): void => {
    const listed = Array.from(files ?? []).slice(0, MAX_LISTED - this.files.get().length)
    for (const given of listed) {
      const type = given.type === '' ? 'application/octet-stream' : given.type
      const file = given.type === '' ? new File([given], given.name, { type }) : given
      const isPicture = /^image\/(?:png|jpeg|gif|webp)$/.test(type)
      const preview = isPicture ? URL.createObjectURL(file) : undefined
      const entry = { id: newId(), file, preview }
      const before = this.files.get()
      const fault = faultOf(file, before.length)
      this.files.set([...before, { ...entry, fault }])
      if (fault === undefined) void this.#store(entry)
    }
  }

  /** Retries the files that could not be stored because no gateway answered. */
  storeAgain(): void {
    for (const { id, file, isUnstored } of this.files.get()) {
      if (isUnstored !== true) continue
      this.#change(id, { fault: undefined, isUnstored: false })
      void this.#store({ id, file })
    }
  }

  removeFile(id: string): void {
    const files = this.files.get()
    clearPreviews(files.filter((each) => each.id === id))
    this.files.set(files.filter((each) => each.id !== id))
  }

  /** Takes the text and the stored files for a message. The model stays for the next one. */
  take(): { readonly text: string; readonly stored: readonly Attachment[] } {
    const text = this.text.get()
    const files = this.files.get()
    clearPreviews(files)
    this.text.set('')
    this.files.set([])
    return { text, stored: files.flatMap(({ stored }) => stored ?? []) }
  }

  /** Takes what was written in another session, whose files are stored again for this one. */
  takeFrom(other: Draft): void {
    const files = other.files.get()
    this.text.set(other.text.get())
    this.model.set(other.model.get())
    this.addFiles(files.map(({ file }) => file))
    other.take()
    other.model.set(undefined)
  }

  async #store({ id, file }: Pick<ChosenFile, 'id' | 'file'>): Promise<void> {
    try {
      const key = await host.storeFile(this.#session, file.name, file)
      const blob = { key, bytes: file.size, digest: '' }
      this.#change(id, { stored: { mimeType: file.type, name: file.name, blob } })
    } catch (error) {
      const isUnstored = error instanceof HostError && error.status === undefined
      const fault = isUnstored ? 'is stored after reconnecting' : messageOf(error)
      this.#change(id, { fault, isUnstored })
    }
  }

  #change(id: string, more: Partial<ChosenFile>): void {
    const files = this.files.get()
    this.files.set(files.map((each) => (each.id === id ? { ...each, ...more } : each)))
  }
}

const drafts = new Map<string, Draft>()

/** The draft of a session. Empty ones of other sessions are forgotten. */
export function draftOf(session: string): Draft {
  const draft = drafts.get(session) ?? new Draft(session)
  for (const [id, each] of drafts) if (each.isEmpty) drafts.delete(id)
  drafts.set(session, draft)
  return draft
}

/** Moves what was written to a session that takes the place of another. */
export function moveDraft(from: string, to: string): void {
  const source = draftOf(from)
  draftOf(to).takeFrom(source)
}

/** Why a file cannot be sent. `before`: the number of files before it. */
function faultOf({ size }: File, before: number): string | undefined {
  if (before >= MAX_FILES) return `a message takes ${MAX_FILES} files at most`
  if (size === 0) return 'is empty'
  return size > MAX_BYTES ? 'larger than 20 MB' : undefined
}

function clearPreviews(files: readonly ChosenFile[]): void {
  for (const { preview } of files) if (preview !== undefined) URL.revokeObjectURL(preview)
}
