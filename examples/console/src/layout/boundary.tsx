import { Component, type ReactNode } from 'react'
import { Error as ErrorPage } from 'react-admin'

interface BoundaryState {
  readonly error?: Error
}

/** Shows that a page has failed in its place, until another page is opened. */
export class Boundary extends Component<{ readonly children: ReactNode }, BoundaryState> {
  override state: BoundaryState = {}

  static getDerivedStateFromError (error: Error): BoundaryState {
    return { error }
  }

  override render (): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return <ErrorPage error={error} resetErrorBoundary={() => this.setState({ error: undefined as never })} />
  }
}
