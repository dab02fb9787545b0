/** The contrast of text. */

/** WCAG 2, AA, for text of normal size. */
export const LEAST_CONTRAST = 4.5

/** The contrast of each element that has text with its background. Runs in the page. */
export const contrastsOfText = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number)
  const luminance = (color) => {
    const [red, green, blue] = channels(color).map((each) => each / 255)
      .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const backgroundOf = (element) => {
    const { backgroundColor } = getComputedStyle(element)
    return channels(backgroundColor)[3] === 0 ? backgroundOf(element.parentElement) : backgroundColor
  }
  return [...document.querySelectorAll('body *')].filter((element) => element.innerText).map((element) => {
    const [light, dark] = [getComputedStyle(element).color, backgroundOf(element)].map(luminance).sort((a, b) => b - a)
    return (light + 0.05) / (dark + 0.05)
  })
})()`
