// Starts pages that are served: sessions and lists, in their frame.
import { startFrame } from "./frame.js";
import { startPage } from "./reading.js";
import { offerStars, startStars } from "./stars.js";

offerStars();
startPage();
startFrame();
startStars();
