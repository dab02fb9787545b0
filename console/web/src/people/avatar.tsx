/** The picture of a person, or the first letters of the name. A picture is loaded when it comes into view. */
import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { useCan } from '../api.ts'
import { pictureQuery } from './data.ts'
import styles from './people.module.css'

interface AvatarProps {
  readonly user: { readonly id: string; readonly name: string }
  /** Otherwise it stands beside the name. */
  readonly isLarge?: boolean
}

export function Avatar({ user: { id, name }, isLarge = false }: AvatarProps) {
  const can = useCan()
  const element = useRef<HTMLSpanElement>(null)
  const isSeen = useSeen(element)
  const { data } = useQuery({ ...pictureQuery(id), enabled: isSeen && can('profile-picture:read') })
  const url = useObjectUrl(data)
  const [brokenUrl, setBrokenUrl] = useState<string>()
  const isShown = url !== undefined && url !== brokenUrl
  return (
    <span ref={element} className={styles.avatar} data-size={isLarge ? 'large' : 'small'}>
      {isShown ? (
        <img src={url} alt={isLarge ? `Picture of ${name}` : ''} decoding="async" onError={() => setBrokenUrl(url)} />
      ) : (
        <span aria-hidden="true">{initialsOf(name)}</span>
      )}
    </span>
  )
}

function useSeen(element: RefObject<Element | null>): boolean {
  const [isSeen, setIsSeen] = useState(false)
  useEffect(() => {
    const observed = element.current
    if (isSeen || !observed) return
    const observer = new IntersectionObserver((entries) => setIsSeen(entries.some((entry) => entry.isIntersecting)))
    observer.observe(observed)
    return () => observer.disconnect()
  }, [element, isSeen])
  return isSeen
}

function useObjectUrl(blob: Blob | null | undefined): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!blob) return setUrl(undefined)
    const made = URL.createObjectURL(blob)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [blob])
  return url
}

/** The first letters of the first and the last word. */
function initialsOf(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? []
  const [first = '', last = ''] = [words[0], words.length > 1 ? words.at(-1) : undefined]
  return [first, last].map((word) => Array.from(word)[0]?.toUpperCase() ?? '').join('')
}
