; The lowest mode of a square cavity with metallic walls, in a dielectric.
(set! geometry-lattice (make lattice (size 2 2 no-size)))
(set! default-material (make dielectric (epsilon 4)))
(set-param! resolution 8)
(set! sources (list (make source
  (src (make gaussian-src (frequency 0.177) (fwidth 0.4))) (component Ez) (center 0.1 0.2))))
(define-param duration 25)
(run-sources+ duration (after-sources (harminv Ez (vector3 0.3 -0.2) 0.177 0.05)))
