import type { ReactNode } from 'react'
import { Component } from 'react'
import { Mark } from './icon.tsx'

interface ErrorBoundaryProps {
  /** What cannot be shown, as the beginning of a sentence. */
  readonly what: string
  readonly children: ReactNode
}

/** Keeps a fault of one part of the page from the others. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly hasFailed: boolean }> {
  override readonly state = { hasFailed: false }

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true }
  }

  override render(): ReactNode {
    const { what, children } = this.props
    if (!this.state.hasFailed) return children
    return (
      <div role="alert" className="box failed fault">
        <Mark name="failed" />
        <p>
          <strong>{what} cannot be shown because of a fault in this page.</strong> Nothing is lost.
        </p>
        <div className="actions">
          <button type="button" onClick={() => this.setState({ hasFailed: false })}>
            Try again
          </button>
          <button type="button" onClick={() => location.reload()}>
            Reload the page
          </button>
        </div>
      </div>
    )
  }
}
