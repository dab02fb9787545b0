/** The types of the methods of the client, by operation. */
import type { operations } from './api.ts'

type Id = keyof operations

/** What an operation has of parameters of one kind, where undefined is the same as an absent one. */
type Lenient<Type> = [Type] extends [never]
  ? unknown
  : { readonly [Name in keyof Type]: object extends Pick<Type, Name> ? Type[Name] | undefined : Type[Name] }

/** The parameters of the path. */
export type Path<Name extends Id> = NonNullable<operations[Name]['parameters']['path']>

/** `ifMatch` for `If-Match`. */
type OptionOf<Header> = Header extends `${infer First}-${infer Rest}` ? `${First}${OptionOf<Rest>}` : Header

type HeaderOptions<Header> = [Header] extends [never]
  ? never
  : { [Name in keyof Header as Uncapitalize<OptionOf<Name> & string>]: Header[Name] }

/** What is set for one call. */
export interface CallOptions {
  /** How many times a request that failed is repeated, if that is safe; default: 2. */
  readonly maxRetries?: number | undefined
  /** How long an attempt may take, in milliseconds; default: 60,000. */
  readonly timeout?: number | undefined
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined
  /** Further headers, such as `X-Bookmark`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

interface UploadOptions {
  /** The media type of the content; default: that of the `Blob`, or `application/octet-stream`. */
  readonly contentType?: string | undefined
}

/** The parameters of the query, the headers of the operation, and what is set for one call. */
export type Options<Name extends Id> = Lenient<NonNullable<operations[Name]['parameters']['query']>> &
  Lenient<HeaderOptions<NonNullable<operations[Name]['parameters']['header']>>> &
  (operations[Name] extends { requestBody: { content: { 'application/octet-stream': unknown } } }
    ? UploadOptions
    : unknown) &
  CallOptions

/** The content of an upload. A stream is read into memory, because the service needs its length. */
export type Content = Blob | ArrayBuffer | Uint8Array | ReadableStream<Uint8Array>

/** The body of a request. */
export type Body<Name extends Id> =
  NonNullable<operations[Name]['requestBody']> extends { content: { 'application/json': infer Type } } ? Type : never

type Json<Response> = Response extends { content: { 'application/json': infer Type } } ? Type : never

/** The body of a response that is a success. */
export type Data<Name extends Id> = {
  [Status in keyof operations[Name]['responses'] & (200 | 201)]: Json<operations[Name]['responses'][Status]>
}[keyof operations[Name]['responses'] & (200 | 201)]

/** The page of a list, with what was asked for by `expand`, and nothing else that could be. */
export type Expanded<Name extends Id, Expand extends string | undefined> =
  Data<Name> extends { items: (infer Item)[] }
    ? Omit<Data<Name>, 'items'> & {
        items: (Expand extends string
          ? Extract<Item, Record<Expand, unknown>>
          : Exclude<Item, Record<ExpandOf<Name>, unknown>>)[]
      }
    : never

type ExpandOf<Name extends Id> =
  NonNullable<operations[Name]['parameters']['query']> extends { expand?: infer Expand } ? Expand & string : never

/** The result of a call, and its response, whose headers have the `ETag` and the `X-Request-Id`. */
export interface Answer<Result> {
  readonly data: Result
  readonly response: Response
}

/** A call of an operation. */
export interface Call<Result> extends Promise<Result> {
  withResponse(): Promise<Answer<Result>>
}

export interface AnyPage {
  readonly items: readonly unknown[]
  readonly nextCursor: string | null
  /** A page of events always has a `nextCursor`, and this. */
  readonly hasMore?: boolean
}

/** A list: its items, from all pages. A page is requested when its first item is needed. */
export interface List<Page extends AnyPage> extends AsyncIterable<Page['items'][number], void, undefined> {
  /** One page, for lists that people page through. The next one begins at its `nextCursor`. */
  page(): Call<Page>
}
