// How large the screen is, as style.css tells them apart.

import { useEffect, useState } from "./vendor/htm-preact.js";

export const WIDE = "(min-width: 80rem)"; // has room for a bar beside the answers
export const NARROW = "(max-width: 63.99rem)"; // shows a document over the page, not beside it

export function useMedia(query) {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const changed = () => setMatches(media.matches);
    media.addEventListener("change", changed);
    return () => media.removeEventListener("change", changed);
  }, []);
  return matches;
}
