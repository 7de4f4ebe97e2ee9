/** What the test of the example needs of React. */
declare module 'react-dom/server' {
  export function renderToString(element: unknown): string
}
declare module 'react' {
  export function createElement(type: unknown, props: object): unknown
}
declare module 'react/jsx-runtime'
declare module 'react/jsx-dev-runtime'
