/** What the page of the tests needs of React, which brings no types of its own. */
declare module 'react' {
  export const StrictMode: unknown
  export function createElement(
    type: unknown,
    props: object | null,
    ...children: unknown[]
  ): unknown
  export function useEffect(run: () => () => void, on: readonly unknown[]): void
  export function useState<T>(first: T): [T, (next: T) => void]
  export function useSyncExternalStore<T>(subscribe: unknown, snapshot: () => T): T
}
declare module 'react-dom/client' {
  export function createRoot(place: Element): { render(element: unknown): void }
}
