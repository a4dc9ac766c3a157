import type { MouseEvent, ReactNode } from 'react'

export type IconName =
  | 'again'
  | 'back'
  | 'clip'
  | 'close'
  | 'copy'
  | 'edit'
  | 'file'
  | 'menu'
  | 'more'
  | 'next'
  | 'plus'
  | 'search'
  | 'send'
  | 'settings'
  | 'share'
  | 'stop'
  | 'theme'
  | 'trace'

/** What a button does. It has no words: the button says them. */
export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return <i className={`i i-${name}`} aria-hidden="true" />
}

export type MarkName =
  | 'changed'
  | 'failed'
  | 'half'
  | 'off'
  | 'ok'
  | 'queued'
  | 'ready'
  | 'refused'
  | 'runs'
  | 'unknown'
  | 'waits'

/** The state of something, by its shape. It has no words: the text beside it says them. */
export function Mark({ name }: { readonly name: MarkName }): ReactNode {
  return <i className={`m m-${name}`} aria-hidden="true" />
}

export interface IconButtonProps {
  readonly icon: IconName
  /** What it does, for screen readers and on a tooltip. */
  readonly label: string
  readonly onClick: (event: MouseEvent<HTMLButtonElement>) => void
  readonly isTight?: boolean
  readonly disabled?: boolean
  readonly autoFocus?: boolean
}

export function IconButton({ icon, label, onClick, isTight, ...more }: IconButtonProps): ReactNode {
  return (
    <button
      type="button"
      className={isTight === true ? 'icon-button tight' : 'icon-button'}
      aria-label={label}
      title={label}
      onClick={onClick}
      {...more}
    >
      <Icon name={icon} />
    </button>
  )
}
