/** The pins of the person, in their order, which they change by mouse or by keyboard. */
import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine'
import { draggable, dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { attachClosestEdge } from '@atlaskit/pragmatic-drag-and-drop-hitbox/closest-edge/attach-closest-edge'
import { extractClosestEdge } from '@atlaskit/pragmatic-drag-and-drop-hitbox/closest-edge/extract-closest-edge'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { GripVertical } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react'
import { useCan, useMe } from '../api.ts'
import { Menu, type MenuItem } from '../components/menu.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Status } from '../components/status.tsx'
import { Time } from '../components/time.tsx'
import { showMessage } from '../messages.ts'
import { useName } from '../names.ts'
import { changed, keyOf, type Pin, type PinChange, type Placement, pathOf, useChangePins, usePins } from './data.ts'
import { KindIcon, wordOf } from './kinds.tsx'
import { PinSomething } from './pin-something.tsx'
import styles from './pins.module.css'

export const Route = createLazyRoute('/app/pins')({ component: Pins })

function Pins() {
  const { user } = useMe()
  const can = useCan()
  if (!user) {
    return (
      <Page title="Pins">
        <Empty title="Pins belong to people">
          This session acts for no user. Sign in with an API key of a user to see and change their pins.
        </Empty>
      </Page>
    )
  }
  if (!can('pins:read')) {
    return (
      <Page title="Pins">
        <p className="quiet">This session may not read pins.</p>
      </Page>
    )
  }
  return <OwnPins canWrite={can('pins:write')} />
}

function OwnPins({ canWrite }: { readonly canWrite: boolean }) {
  const { pins, error, refetch } = usePins()
  const [isChoosing, setIsChoosing] = useState(false)
  const [announcement, setAnnouncement] = useState('')
  const { mutate, mutateAsync } = useChangePins()
  const list = useRef<HTMLOListElement>(null)
  const act = (change: PinChange, what: string) => {
    const order = changed(pins ?? [], change)
    const index = order.findIndex((pin) => keyOf(pin) === keyOf(change.pin))
    mutate(change)
    setAnnouncement(index === -1 ? '' : `${change.pin.name} ${what} position ${index + 1} of ${order.length}`)
  }
  const place = (pin: Pin, to: Placement) => {
    const order = changed(pins ?? [], { pin, to })
    if (order.some((each, index) => each !== pins?.[index])) act({ pin, to }, 'moved to')
  }
  const unpin = (pin: Pin, index: number) => {
    const [previous, next] = [pins?.[index - 1], pins?.[index + 1]]
    const neighbour = previous ? { target: previous, position: 'after' as const } : undefined
    const back = neighbour ?? (next ? { target: next, position: 'before' as const } : 'end')
    // The focus would be lost with the row.
    list.current?.children[next ? index + 1 : index - 1]?.querySelector<HTMLElement>('button')?.focus()
    const action = { label: 'Pin again', onSelect: () => act({ pin, to: back }, 'pinned again at') }
    mutateAsync({ pin, to: null }).then(
      () => showMessage(`${pin.name} unpinned.`, false, action),
      // It has been shown.
      () => undefined,
    )
  }
  return (
    <Page
      title="Pins"
      details={
        canWrite &&
        pins !== undefined &&
        pins.length > 1 && (
          <p className="quiet small">
            Drag a pin to its place, or press <kbd>Alt</kbd> <kbd>↑</kbd> and <kbd>Alt</kbd> <kbd>↓</kbd> on it.
          </p>
        )
      }
      actions={
        canWrite && (
          <button type="button" data-kind="primary" onClick={() => setIsChoosing(true)}>
            Pin something
          </button>
        )
      }
    >
      <p className="only-read-aloud" aria-live="polite">
        {announcement}
      </p>
      {pins === undefined ? (
        error ? (
          <ErrorNote error={error} retry={() => void refetch()} />
        ) : (
          <Skeleton />
        )
      ) : pins.length === 0 ? (
        <Empty title="No pins yet">
          {canWrite
            ? 'Pin the sessions, pull requests and projects that you come back to.'
            : 'This session may not pin anything.'}
        </Empty>
      ) : (
        <ol ref={list} className={styles.pins}>
          {pins.map((pin, index) =>
            canWrite ? (
              <MovableRow
                key={keyOf(pin)}
                pin={pin}
                index={index}
                pins={pins}
                onPlace={place}
                onUnpin={() => unpin(pin, index)}
              />
            ) : (
              <li key={keyOf(pin)} className={styles.pin}>
                <About pin={pin} />
              </li>
            ),
          )}
        </ol>
      )}
      {isChoosing && (
        <PinSomething
          pinned={new Set(pins?.map(keyOf))}
          onChoose={(pin) => {
            setIsChoosing(false)
            act({ pin, to: 'end' }, 'pinned at')
          }}
          onClose={() => setIsChoosing(false)}
        />
      )}
    </Page>
  )
}

interface MovableRowProps {
  readonly pin: Pin
  readonly index: number
  readonly pins: readonly Pin[]
  readonly onPlace: (pin: Pin, to: Placement) => void
  readonly onUnpin: () => void
}

function MovableRow({ pin, index, pins, onPlace, onUnpin }: MovableRowProps) {
  const row = useRef<HTMLLIElement>(null)
  const [isDragged, setIsDragged] = useState(false)
  const [edge, setEdge] = useState<Placement['position']>()
  const key = keyOf(pin)
  const onDrop = useEffectEvent((droppedKey: unknown, position: Placement['position']) => {
    const dropped = pins.find((each) => keyOf(each) === droppedKey)
    if (dropped) onPlace(dropped, { target: pin, position })
  })
  useEffect(() => {
    const element = row.current
    if (!element) return
    return combine(
      draggable({
        element,
        getInitialData: () => ({ key }),
        onDragStart: () => setIsDragged(true),
        onDrop: () => setIsDragged(false),
      }),
      dropTargetForElements({
        element,
        canDrop: ({ source }) => source.data.key !== key,
        getData: ({ input }) => attachClosestEdge({ key }, { element, input, allowedEdges: ['top', 'bottom'] }),
        onDrag: ({ self }) => setEdge(positionOf(self.data)),
        onDragLeave: () => setEdge(undefined),
        onDrop: ({ self, source }) => {
          setEdge(undefined)
          onDrop(source.data.key, positionOf(self.data))
        },
      }),
    )
  }, [key])
  const last = pins.length - 1
  /** Moves it to the place of another. */
  const moveTo = (place: number) => {
    const target = pins[place]
    if (target) onPlace(pin, { target, position: place < index ? 'before' : 'after' })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (step === undefined || !event.altKey) return
    event.preventDefault()
    moveTo(index + step)
  }
  const items: MenuItem[] = [
    { label: 'Move up', onSelect: () => moveTo(index - 1), isDisabled: index === 0 },
    { label: 'Move down', onSelect: () => moveTo(index + 1), isDisabled: index === last },
    { label: 'Move to top', onSelect: () => moveTo(0), isDisabled: index === 0 },
    { label: 'Move to bottom', onSelect: () => moveTo(last), isDisabled: index === last },
    { label: 'Unpin', onSelect: onUnpin },
  ]
  return (
    <li ref={row} className={styles.pin} data-dragged={isDragged} data-drop={edge} onKeyDown={onKeyDown}>
      <GripVertical className={styles.grip} size={16} aria-hidden="true" />
      <About pin={pin} />
      <Menu label={`Actions for ${pin.name}`} items={items} />
    </li>
  )
}

function positionOf(data: Record<string | symbol, unknown>): Placement['position'] {
  return extractClosestEdge(data) === 'top' ? 'before' : 'after'
}

function About({ pin }: { readonly pin: Pin }) {
  const { projectId, archivedAt } = pin.resource
  const project = useName('projects', projectId)
  const path = pathOf(pin)
  const name: ReactNode = <bdi>{pin.name}</bdi>
  return (
    <>
      <span className={styles.icon}>
        <KindIcon kind={pin.resourceType} />
      </span>
      <div className={styles.about}>
        {path ? (
          // Otherwise the browser would drag the address instead of the pin.
          <Link to={path} className={styles.name} draggable={false}>
            {name}
          </Link>
        ) : (
          <span className={styles.name}>{name}</span>
        )}
        <p className="quiet small">
          {wordOf(pin.resourceType)}
          {projectId !== null && ` · ${project ?? projectId}`}
        </p>
      </div>
      {archivedAt && <Status tone="idle">Archived</Status>}
      <span className="quiet small wide-only">
        pinned <Time at={pin.createdAt} />
      </span>
    </>
  )
}
